// Keys of the page of one pair: a grade's key decides, n goes on, r begins the reason, Esc leaves it.

const reason = document.getElementById("id_reason");
const writes = (element) => element?.matches?.("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.key === "Escape" && document.activeElement === reason) {
    reason.blur();
    return;
  }
  if (writes(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "r" && reason) {
    event.preventDefault();
    reason.focus();
    return;
  }
  const target = document.querySelector(`main [data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  target.click();
});
