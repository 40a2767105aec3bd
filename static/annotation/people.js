// The table of people in a quality report: who is ticked stays ticked on its other pages.

const table = document.querySelector("table.people");
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("#people-choice"));

if (table && form) {
  const section = /** @type {HTMLElement} */ (form.closest("section"));
  const boxes = [.../** @type {NodeListOf<HTMLInputElement>} */ (table.querySelectorAll("[name=person]"))];
  const all = /** @type {HTMLInputElement | null} */ (table.querySelector("[data-choose-all]"));
  const count = form.querySelector("[data-chosen-count]");
  const needing = /** @type {HTMLButtonElement | null} */ (form.querySelector("[data-chosen-needed]"));

  const show = () => {
    const chosen = new FormData(form).getAll("person");
    for (const link of section.querySelectorAll("a")) {
      if (!link.getAttribute("href")?.startsWith("?")) continue;
      const address = new URL(link.href);
      address.searchParams.delete("person");
      for (const name of chosen) address.searchParams.append("person", String(name));
      link.setAttribute("href", `${address.search || "?"}#people`);
    }
    if (count) count.textContent = chosen.length ? `${chosen.length} selected` : "";
    if (needing) needing.disabled = !chosen.length;
    if (all) {
      const ticked = boxes.filter((box) => box.checked).length;
      all.checked = ticked === boxes.length;
      all.indeterminate = ticked > 0 && ticked < boxes.length;
    }
  };

  if (all) {
    all.hidden = false;
    all.addEventListener("change", () => {
      for (const box of boxes) box.checked = all.checked;
      show();
    });
  }
  for (const box of boxes) box.addEventListener("change", show);
  show();
}
