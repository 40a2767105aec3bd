// The annotator's page. The next pairs are here before they are needed, so a key press only moves
// what is in memory; labels go out through the outbox, and nothing on the page waits for them.
import { Outbox } from "./outbox.js";

const WANTED = 60;   // pairs asked for at a time
const LOW = 12;      // with fewer ahead, the next request brings more
const IDLE = 60_000; // a minute without a sign of life is not counted as work

const page = document.getElementById("label-page");
const { nextUrl, labelsUrl, releaseUrl, account, campaign, login } = page.dataset;
const part = (name) => page.querySelector(`[data-part="${name}"]`);
// the cookie's is the newer one where somebody has signed in again in another tab
const csrf = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? document.body.dataset.csrf;
const headers = () => ({
  "Content-Type": "application/json",
  "X-CSRFToken": csrf(),
  "Touchstone-Account": account,
});
const toast = (text, tone = "info") =>
  document.dispatchEvent(new CustomEvent("toast", { detail: { text, tone } }));

let ahead = [];           // pairs to come, in order
let current = null;       // the pair on the screen
const done = [];          // what this page has labelled, oldest first: {pair, grade}
const known = new Set();  // assignments that are or were on this page
let progress = { done: Number(page.dataset.done), left: Number(page.dataset.left) };
let fetching = false;

// active time: from showing a pair to its label, without hidden or idle stretches

let activeSince = 0;
let activeTime = 0;
let lastSign = 0;

function startClock() {
  activeTime = 0;
  activeSince = lastSign = performance.now();
}
function settleClock(now = performance.now()) {
  if (activeSince) activeTime += Math.max(0, Math.min(now, lastSign + IDLE) - activeSince);
  activeSince = 0;
}
function signOfLife() {
  const now = performance.now();
  if (activeSince && now - lastSign > IDLE) settleClock(now);
  if (!activeSince && !document.hidden) activeSince = now;
  lastSign = now;
}
for (const event of ["pointermove", "pointerdown", "keydown", "scroll"]) {
  addEventListener(event, signOfLife, { passive: true, capture: true });
}
document.addEventListener("visibilitychange", () => (document.hidden ? settleClock() : signOfLife()));

// sending

const outbox = new Outbox({
  desk: `${account} ${campaign}`,
  url: labelsUrl,
  headers,
  extras: () => (ahead.length < LOW ? { count: WANTED, held: held() } : { count: 0 }),
  onState: showState,
  onAnswer: (answer) => take(answer),
  onRefused: (receipt) => toast(`A label was not taken: ${receipt.message}`, "bad"),
});

const held = () => [...ahead, current].filter(Boolean).map((pair) => pair.assignment);

function showState({ waiting, state }) {
  const words = {
    saved: "All saved",
    saving: "Saving …",
    offline: `${waiting} not yet saved. Keep going.`,
    "signed-out": `${waiting} not yet saved: signed out.`,
    "shut-out": `${waiting} not saved: this campaign is no longer open to you. Ask its lead.`,
  };
  const element = part("state");
  element.dataset.state = state;
  part("state-words").textContent = words[state];
  part("sign-in").hidden = state !== "signed-out";
}

function take(answer) {
  for (const pair of answer.pairs ?? []) {
    if (known.has(pair.assignment)) continue;
    known.add(pair.assignment);
    ahead.push(pair);
  }
  outbox.waiting().then((rows) => {
    if (rows.length === 0 && answer.progress) {
      progress = answer.progress;
      showProgress();
    }
  });
  if (answer.guideline_revision && answer.guideline_revision !== Number(page.dataset.revision)) {
    part("revised").hidden = false;
  }
  if (!current && ahead.length > 0) advance();
}

async function fetchMore() {
  if (fetching) return;
  fetching = true;
  try {
    const response = await fetch(nextUrl, {
      method: "POST",
      headers: headers(),
      body: JSON.stringify({ count: WANTED, held: held() }),
      signal: AbortSignal.timeout(15_000),
    });
    if (response.status === 401 || response.status === 403) location.assign(login);
    else if (response.ok) {
      const answer = await response.json();
      fetching = false;
      take(answer);
      if (!current) showEnd(answer);
    } else throw new Error(String(response.status));
  } catch {
    if (!current) {
      showWaiting();
      setTimeout(fetchMore, 2000);
    }
  } finally {
    fetching = false;
  }
}

// showing

function advance() {
  current = ahead.shift() ?? null;
  if (current) show(current);
  else {
    part("stage").setAttribute("aria-busy", "true");
    fetchMore();
  }
  if (ahead.length < LOW && current && !outbox.sending) fetchMore();
}

function show(pair, former = null) {
  const changed = part("query").textContent !== pair.query.text;
  part("query").textContent = pair.query.text;
  part("description").textContent = pair.query.description;
  part("title").textContent = pair.document.title || "Untitled";
  part("url").textContent = pair.document.url;
  part("url").hidden = !pair.document.url;
  showFields(pair.document.fields);
  part("text").textContent = pair.document.text;
  part("empty-text").hidden = Boolean(pair.document.text);
  highlight(pair.query.text);
  for (const button of page.querySelectorAll("[data-grade]")) {
    button.setAttribute("aria-pressed", String(former !== null && Number(button.dataset.grade) === former));
  }
  part("stage").hidden = false;
  part("stage").removeAttribute("aria-busy");
  part("end").hidden = true;
  part("bar").hidden = false;
  part("scroll").scrollTop = 0;
  part("note-mark").hidden = !pair.note;
  part("undo").disabled = done.length === 0;
  if (changed) {
    part("live").textContent = `New query: ${pair.query.text}`;
    part("query-card").animate?.([{ opacity: 0.35 }, { opacity: 1 }], 180);
  }
  showProgress();
  startClock();
}

function showFields(fields) {
  const list = part("fields");
  list.replaceChildren();
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (value === "" || value === null) continue;
    const item = document.createElement("li");
    item.textContent = `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
    list.append(item);
  }
}

function highlight(query) {
  if (!globalThis.CSS?.highlights) return;
  CSS.highlights.delete("terms");
  const terms = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [])].filter(
    (term) => !STOP.has(term),
  );
  if (terms.length === 0) return;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${terms.join("|")})`, "giu");
  const ranges = [];
  for (const element of [part("title"), part("text")]) {
    const node = element.firstChild;
    if (!node) continue;
    for (const match of node.data.matchAll(pattern)) {
      const range = new Range();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      ranges.push(range);
      if (ranges.length >= 500) break;
    }
  }
  CSS.highlights.set("terms", new Highlight(...ranges));
}
const STOP = new Set(
  "the and for with from that this into out are how what when where which who can does did was were not you your all any has have its".split(" "),
);

function showProgress() {
  const total = progress.done + progress.left;
  part("done").textContent = progress.done.toLocaleString("en");
  part("total").textContent = total.toLocaleString("en");
  part("bar-done").max = Math.max(total, 1);
  part("bar-done").value = progress.done;
  let inQuery = 0;
  if (current) while (inQuery < ahead.length && ahead[inQuery].query.text === current.query.text) inQuery += 1;
  part("in-query").textContent = current ? `${inQuery + 1} at hand in this query` : "";
}

function showEnd({ is_open: isOpen = true } = {}) {
  if (isOpen) showInstead("All done", "There is nothing left for you to label here right now. Thank you.");
  else showInstead("This campaign is closed", "Your labels are kept. Nothing more is asked of you here.");
  part("undo").disabled = part("end-undo").hidden = done.length === 0 || !isOpen;
}

function showWaiting() {
  showInstead("No connection", "The next pairs are not here yet. They come by themselves; what you labelled is kept.");
  part("end-undo").hidden = true;
}

function showInstead(heading, words) {
  current = null;
  part("stage").hidden = true;
  part("bar").hidden = true;
  part("end").hidden = false;
  part("end-heading").textContent = heading;
  part("end-words").textContent = words;
  part("query").textContent = part("description").textContent = "";
  part("live").textContent = heading;
  showProgress();
}

// acting

function say(outcome, { grade = null, reason = "", note = "" } = {}) {
  settleClock();
  outbox.add({
    id: crypto.randomUUID(),
    assignment: current.assignment,
    outcome,
    grade,
    reason,
    note,
    guideline_revision: Number(page.dataset.revision),
    content_hash: current.content_hash,
    seconds: Math.round(activeTime) / 1000,
    made_at: new Date().toISOString(),
  });
}

function label(outcome, what = {}) {
  if (!current) return;
  say(outcome, { note: current.note ?? "", ...what });
  done.push({ pair: current, grade: what.grade ?? null });
  progress = { done: progress.done + 1, left: Math.max(0, progress.left - 1) };
  advance();
}

function undo() {
  const last = done.pop();
  if (!last) return;
  if (current) ahead.unshift(current);
  current = last.pair;
  say("retracted");
  progress = { done: Math.max(0, progress.done - 1), left: progress.left + 1 };
  show(current, last.grade);
  part("live").textContent = "Taken back.";
}

function later() {
  if (!current) return;
  let place = 0;
  while (place < ahead.length && ahead[place].query.text === current.query.text) place += 1;
  if (place === 0) {
    toast("This is the last pair of its query.");
    return;
  }
  ahead.splice(place, 0, current);
  advance();
}

const dialog = (name) => document.getElementById(`${name}-dialog`);

// A dialog tells that it was closed a moment later: what it is about is held from its opening on.
let asked = null;

function ask(name) {
  if (!current) return;
  asked = current;
  dialog(name).returnValue = "";
  dialog(name).showModal();
}

function openNote() {
  dialog("note").querySelector("textarea").value = current?.note ?? "";
  ask("note");
}
dialog("note").addEventListener("close", (event) => {
  if (event.target.returnValue !== "keep") return;
  const words = event.target.querySelector("textarea").value.trim();
  asked.note = words.toWellFormed?.() ?? words;
  part("note-mark").hidden = !current?.note;
});
dialog("note").querySelector("textarea").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) dialog("note").close("keep");
});
dialog("cannot").addEventListener("close", (event) => {
  const reason = event.target.returnValue;
  const button = reason && event.target.querySelector(`[value="${CSS.escape(reason)}"]`);
  if (button && asked === current) label(button.dataset.outcome, { reason });
});

const actions = {
  undo,
  later,
  note: openNote,
  cannot: () => ask("cannot"),
  guideline: () => dialog("guideline").showModal(),
  keys: () => dialog("keys").showModal(),
  wide: () => {
    page.classList.toggle("wide");
    localStorage.setItem("label-wide", page.classList.contains("wide") ? "1" : "");
  },
};
// the key that opened a dialog to read closes it as well
const OPENED_BY = { g: "guideline-dialog", "?": "keys-dialog" };
const keys = new Map([...page.querySelectorAll("[data-key]")].map((button) => [button.dataset.key, button]));

addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) {
    const open = document.querySelector("dialog[open]");
    const choice = open.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    const typing = event.target instanceof HTMLTextAreaElement;
    if (choice && !typing) { event.preventDefault(); choice.click(); }
    else if (!typing && open.id === OPENED_BY[event.key]) open.close();
    return;
  }
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !event.shiftKey) {
    event.preventDefault();
    undo();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
  const button = keys.get(event.key);
  if (!button || button.disabled) return;
  event.preventDefault();
  button.click();
});

page.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.grade !== undefined) {
    event.preventDefault();
    label("graded", { grade: Number(button.dataset.grade) });
  } else if (actions[button.dataset.action]) {
    event.preventDefault();
    actions[button.dataset.action]();
  }
});

// what this page still holds goes back when it closes, so that others can have it

addEventListener("pagehide", (event) => {
  if (event.persisted) return;
  const assignments = held();
  if (assignments.length === 0) return;
  fetch(releaseUrl, {
    method: "POST",
    headers: headers(),
    body: JSON.stringify({ assignments }),
    keepalive: true,
  }).catch(() => {});
});

// What a closed tab left is on its way: those pairs are not to be labelled again, unless taken back.

async function begin() {
  const last = new Map((await outbox.waiting()).map(({ label: said }) => [said.assignment, said.outcome]));
  for (const [assignment, outcome] of last) if (outcome !== "retracted") known.add(assignment);
  outbox.send();
  advance();
}

if (localStorage.getItem("label-wide")) page.classList.add("wide");
page.classList.add("live");
// so that the arrows, Page Down and the space bar scroll the text from the first pair on
part("scroll").focus({ preventScroll: true });
begin();
