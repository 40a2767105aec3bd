// Keys of the page of one pair: a grade's key decides, n goes on, r begins the reason, Esc leaves it.
// Grades have the keys that one labels by; one of those may be an n or an r, and then it is the grade.

// the field for the reason, where it can be written
const reason = document.getElementById("id_reason");
// refused for want of a reason: that is what is written next
if (document.querySelector(".invalid > #id_reason")) reason?.focus();

/** @param {EventTarget | null} target */
const isField = (target) =>
  target instanceof Element && target.matches("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.key === "Escape" && reason && document.activeElement === reason) {
    reason.blur();
    return;
  }
  if (isField(event.target) || document.querySelector("dialog[open]")) return;
  const key = `[data-key="${CSS.escape(event.key)}"]`;
  const grade = document.querySelector(`.decide-grades ${key}`);
  if (event.key === "r" && reason && !grade) {
    event.preventDefault();
    reason.focus();
    return;
  }
  const target = grade ?? document.querySelector(`main ${key}`);
  if (!(target instanceof HTMLElement)) return;
  event.preventDefault();
  target.click();
});
