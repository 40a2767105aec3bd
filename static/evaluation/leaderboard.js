// The open leaderboard: what changed lights up for a moment, and nothing jumps.

/** @typedef {{ target: Element, elt: Element, xhr: XMLHttpRequest, shouldSwap: boolean }} HtmxSwap */

const BOARD = "board"; // the id of what is swapped, also in the answer

function getBoard() {
  const found = document.getElementById(BOARD);
  if (!found) throw new Error("the page has no board");
  return found;
}

const cells = () =>
  new Map(
    [...document.querySelectorAll("#board [data-cell]")].map((cell) => [
      cell.getAttribute("data-cell"),
      cell,
    ]),
  );

/** @type {Map<string | null, string | null>} */
let before = new Map();
let scrolled = 0;
let focused = "";
/** @type {Set<string>} */
let ticked = new Set();
/** @type {string | undefined} */
let version;

/** @param {Element} board */
const ticks = (board) =>
  [...board.querySelectorAll("input.tick")].filter((tick) => tick instanceof HTMLInputElement);

function remember() {
  const board = getBoard();
  ticked = new Set(
    ticks(board)
      .filter((tick) => tick.checked)
      .map((tick) => tick.value),
  );
  before = new Map([...cells()].map(([key, cell]) => [key, cell.textContent]));
  scrolled = board.querySelector(".table-wrap")?.scrollLeft ?? 0;
  version = board.dataset.version;
  const active = document.activeElement;
  focused = (board.contains(active) && active?.getAttribute("href")) || "";
}

function compare() {
  const board = getBoard();
  const wrap = board.querySelector(".table-wrap");
  if (wrap) wrap.scrollLeft = scrolled;
  for (const tick of ticks(board)) tick.checked = ticked.has(tick.value);
  const link = focused && board.querySelector(`a[href="${CSS.escape(focused)}"]`);
  if (link instanceof HTMLElement) link.focus({ preventScroll: true });
  for (const [key, cell] of cells()) {
    if (before.has(key) && before.get(key) !== cell.textContent) cell.classList.add("is-new");
  }
  const news = document.getElementById("board-news");
  if (news && version !== board.dataset.version) news.textContent = `Now version ${board.dataset.version}.`;
}

document.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = /** @type {CustomEvent<HtmxSwap>} */ (event);
  if (detail.target.id !== BOARD || detail.xhr.status === 204) return;
  if (!detail.xhr.responseText.includes(`id="${BOARD}"`)) {
    detail.shouldSwap = false; // signed out meanwhile, for example: the whole page says so
    location.reload();
    return;
  }
  remember();
});

document.addEventListener("live:beforeSwap", remember);

document.addEventListener("htmx:afterSwap", (event) => {
  const { detail } = /** @type {CustomEvent<HtmxSwap>} */ (event);
  if (detail.target.id === BOARD || detail.elt.id === BOARD) compare();
});
