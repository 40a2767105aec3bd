// The upload of queries or documents: the beginning of the chosen file is sent first, and htmx shows
// what the file would be read as.

const HEAD = 65_536; // bytes, as touchstone/files/table_preview.py looks at
const chosen = document.querySelector("form:not([data-head]) input[type=file]");
const form = document.querySelector("form[data-head]");

if (chosen instanceof HTMLInputElement && form) {
  const head = document.createElement("input");
  head.type = head.name = "file";
  form.append(head);
  chosen.addEventListener("change", () => {
    document.querySelector("#columns")?.replaceChildren();
    const file = chosen.files?.[0];
    if (!file) return;
    const beginning = new DataTransfer();
    beginning.items.add(new File([file.slice(0, HEAD)], file.name));
    head.files = beginning.files;
    form.dispatchEvent(new Event("beginning"));
  });
}
