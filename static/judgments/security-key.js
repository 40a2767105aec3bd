// A security key answers the challenge in the form's data-options; its answer goes into the form.

const form = document.querySelector("form[data-options]");
const button = form?.querySelector("button");
const problem = form?.querySelector("[data-problem]");

/** @param {HTMLFormElement} form */
async function ask(form) {
  const { publicKey } = JSON.parse(form.dataset.options ?? "{}");
  const credential =
    form.dataset.act === "create"
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey),
        })
      : await navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey),
        });
  const answer = form.elements.namedItem("credential");
  if (!(answer instanceof HTMLInputElement)) return;
  answer.value = JSON.stringify(credential);
  form.submit();
}

if (form instanceof HTMLFormElement && button && problem instanceof HTMLElement) {
  // where browsers or pages without https know no keys, a code still works
  form.hidden = !("PublicKeyCredential" in window);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    problem.hidden = true;
    button.disabled = true;
    ask(form).catch(() => {
      problem.hidden = false;
      button.disabled = false;
    });
  });
}
