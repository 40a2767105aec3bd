// The open leaderboard: what changed lights up for a moment, and nothing jumps.

const cells = () => new Map([...document.querySelectorAll("#board [data-cell]")].map((cell) => [cell.dataset.cell, cell]));

let before = new Map();
let scrolled = 0;
let focused = "";
let version = "";

function remember() {
  const board = document.getElementById("board");
  before = new Map([...cells()].map(([key, cell]) => [key, cell.textContent]));
  scrolled = board.querySelector(".table-wrap")?.scrollLeft ?? 0;
  version = board.dataset.version;
  const active = document.activeElement;
  focused = board.contains(active) ? active.getAttribute("href") : "";
}

function compare() {
  const board = document.getElementById("board");
  const wrap = board.querySelector(".table-wrap");
  if (wrap) wrap.scrollLeft = scrolled;
  if (focused) board.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  for (const [key, cell] of cells()) {
    if (before.has(key) && before.get(key) !== cell.textContent) cell.classList.add("is-new");
  }
  if (version !== board.dataset.version) {
    document.getElementById("board-news").textContent = `Now version ${board.dataset.version}.`;
  }
}

document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id !== "board" || event.detail.xhr.status === 204) return;
  if (!event.detail.xhr.responseText.includes('id="board"')) {
    event.detail.shouldSwap = false; // signed out meanwhile, for example: the whole page says so
    location.reload();
    return;
  }
  remember();
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "board" || event.detail.elt.id === "board") compare();
});
