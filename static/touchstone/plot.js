// Charts: what is pointed at is written beneath, and one stop of the tab key leads to all links of a chart.

const NEAR = 24; // pixels from a dot that still mean it
const SAME = 2; // pixels between dots that nobody tells apart
/** @type {Readonly<Record<string, number>>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** @param {EventTarget | null} target @param {string} selector */
const around = (target, selector) => (target instanceof Element ? target.closest(selector) : null);

/** @param {Element} mark */
function middle(mark) {
  const box = (mark.querySelector(".shape") ?? mark).getBoundingClientRect();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** The mark under the pointer, or else the nearest one. @param {PointerEvent | MouseEvent} event */
function pointedAt(event) {
  const mark = around(event.target, ".mark");
  const area = around(event.target, ".plot-area");
  if (mark || !area) return mark;
  let best = null;
  let distance = NEAR;
  for (const one of area.querySelectorAll(".mark")) {
    const { x, y } = middle(one);
    const own = Math.hypot(x - event.clientX, y - event.clientY);
    if (own < distance) [best, distance] = [one, own];
  }
  return best;
}

/** What a mark says, and how many others lie under it. @param {Element} plot @param {Element} mark */
function describe(plot, mark) {
  const text = mark.querySelector("title")?.textContent ?? "";
  if (!plot.classList.contains("square")) return text;
  const { x, y } = middle(mark);
  const here = [...plot.querySelectorAll(".mark")].filter((one) => {
    const own = middle(one);
    return Math.hypot(own.x - x, own.y - y) < SAME;
  });
  return here.length > 1 ? `${text}, and ${here.length - 1} more here` : text;
}

/** @param {Element} plot @param {Element | null} mark */
function show(plot, mark) {
  for (const one of plot.querySelectorAll(".mark.is-on")) if (one !== mark) one.classList.remove("is-on");
  mark?.classList.add("is-on");
  const readout = plot.querySelector(".readout");
  if (!(readout instanceof HTMLElement)) return;
  readout.textContent = mark ? describe(plot, mark) : (readout.dataset.hint ?? "");
}

/** @param {PointerEvent} event */
function follow(event) {
  const plot = around(event.target, ".plot");
  for (const one of document.querySelectorAll(".plot:has(.is-on)")) if (one !== plot) show(one, null);
  if (plot) show(plot, pointedAt(event));
}

/** @param {ParentNode} part */
function begin(part) {
  for (const readout of part.querySelectorAll(".plot .readout")) {
    readout.classList.add("is-live");
    const plot = readout.closest(".plot");
    if (!plot) continue;
    plot.querySelector("a.mark")?.setAttribute("tabindex", "0");
    show(plot, null);
  }
}

document.addEventListener("pointermove", follow);
document.addEventListener("pointerdown", follow);

document.addEventListener("focusin", (event) => {
  const plot = around(event.target, ".plot");
  if (plot) show(plot, around(event.target, "a.mark"));
});

document.addEventListener("focusout", (event) => {
  const plot = around(event.target, ".plot");
  if (plot) show(plot, null);
});

document.addEventListener("keydown", (event) => {
  const mark = around(event.target, "a.mark");
  const step = STEPS[event.key];
  if (!mark || !step) return;
  event.preventDefault();
  const all = [...(mark.closest(".plot-area")?.querySelectorAll("a.mark") ?? [])];
  const next = all[all.indexOf(mark) + step];
  if (!(next instanceof SVGElement)) return;
  mark.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
});

document.addEventListener("click", (event) => {
  if (around(event.target, "a")) return;
  const near = pointedAt(event);
  if (near instanceof SVGAElement) location.assign(near.href.baseVal);
});

document.addEventListener("htmx:load", (event) => {
  if (event.target instanceof Element) begin(event.target);
});

begin(document);
