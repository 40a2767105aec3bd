// Keys of the page of one pair: a grade's key decides, n goes on, r begins the reason, Esc leaves it.
// Grades have the keys that one labels by; one of those may be an n or an r, and then it is the grade.

const reason = document.getElementById("id_reason");
// refused for want of a reason: that is what is written next
if (document.querySelector(".invalid > #id_reason")) reason.focus();
const writes = (element) => element?.matches?.("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.key === "Escape" && document.activeElement === reason) {
    reason.blur();
    return;
  }
  if (writes(event.target) || document.querySelector("dialog[open]")) return;
  const key = `[data-key="${CSS.escape(event.key)}"]`;
  const grade = document.querySelector(`.decide-grades ${key}`);
  if (event.key === "r" && reason && !grade) {
    event.preventDefault();
    reason.focus();
    return;
  }
  const target = grade ?? document.querySelector(`main ${key}`);
  if (!target) return;
  event.preventDefault();
  target.click();
});
