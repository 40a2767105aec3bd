// Where one's labels are: said quietly, all the time. What stands in their way is shown where it can be
// mended without leaving the page: a session that ended, a label that the server will not take.
import { csrf } from "./asking.js";
import { dialog, number, page, part, toast } from "./page.js";

const PATIENCE = 1000; // milliseconds of saving that nobody needs to hear of

const many = (count, one, more) => (count === 1 ? `1 ${one}` : `${number(count)} ${more ?? one}`);

const WORDS = {
  saved: () => "All saved",
  refused: () => "Not all saved",
  saving: (waiting) => `${waiting} not yet saved`,
  offline: (waiting) => (waiting ? `Offline: ${waiting} not yet saved. Keep going.` : "Offline. Keep going."),
  "signed-out": (waiting) => `${waiting} not yet saved: signed out`,
  "other-account": (waiting) => `${waiting} not yet saved: signed out`,
};

function shownGrade(label) {
  if (label.outcome !== "graded") return label.outcome === "retracted" ? "Taken back" : `Can’t tell: ${label.reason}`;
  const button = page.querySelector(`[data-grade="${label.grade}"]`);
  return button ? `Graded ${button.querySelector(".name").textContent}` : `Graded ${label.grade}`;
}

// why a label was refused; pages of before an update kept only the words
const reasonOf = ({ refused }) => refused.message ?? refused;

const COLUMNS = ["Query", "Description", "Document", "Label", "Note", "Made at", "Not accepted because"];

function cellsOf(row) {
  const { query = "", description = "", title = "" } = row.about ?? {};
  return [query, description, title || "Untitled", shownGrade(row.label), row.label.note ?? "", row.label.made_at, reasonOf(row)];
}

// in one line; and no formula of a spreadsheet, whoever wrote the document
const cell = (words) => words.replace(/\s+/g, " ").replace(/^(?=[=+\-@])/, "'");

// Whether the text is in the clipboard; an address without https has only the old way.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = dialog("refused").querySelector("textarea");
    Object.assign(area, { hidden: false, value: text });
    area.select();
    const isDone = document.execCommand("copy");
    area.hidden = true;
    return isDone;
  }
}

function tellRefused(words) {
  dialog("refused").querySelector('[data-part="refused-told"]').textContent = words;
}

async function send(url, fields) {
  const body = new URLSearchParams({ csrfmiddlewaretoken: csrf(), ...fields });
  return fetch(url, { method: "POST", body, redirect: "manual" });
}

export class Saving {
  #timer;
  #toldSurplus = false;
  #toldLoose = false;
  #isPutOff = false;
  #state = ""; // unknown until the browser's database has been read
  #refused = [];
  #answer = ""; // to the last try to sign in; the next try to send must not wipe it away

  // onSignedIn(): the session is there again. onChange(): other tabs should look, too.
  // onRetry(rows): these refused labels are to be sent again.
  constructor({ drawer, onSignedIn, onRetry, onChange }) {
    Object.assign(this, { drawer, onSignedIn, onRetry, onChange });
    const form = part("sign-in");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#signIn(form).catch(() => this.#say("The server does not answer. Try again in a moment."));
    });
    form.querySelector("[data-put-off]").addEventListener("click", () => {
      this.#isPutOff = true;
      form.hidden = true;
    });
    part("sign-in-again").addEventListener("click", () => {
      this.#isPutOff = false;
      this.#showSignIn();
      form.elements.password.focus();
    });
    for (const name of ["refused", "end-refused"]) part(name).addEventListener("click", () => this.#openRefused());
    dialog("refused").querySelector("[data-copy-refused]").addEventListener("click", () => this.#copy());
    dialog("refused").querySelector("[data-retry-all]").addEventListener("click", () => this.onRetry(this.#refused));
    addEventListener("offline", () => { if (this.#state === "saved") this.show({ waiting: 0, state: "offline" }); });
  }

  // refused: how many labels are here that the server will not take, where that is known.
  show({ waiting, state, refused = this.#refused.length }) {
    clearTimeout(this.#timer);
    this.#state = state;
    const shown = state === "saved" && refused > 0 ? "refused" : state;
    part("state").dataset.state = shown;
    const words = this.drawer.loose > 0
      ? `${many(waiting, "only in this tab", "only in this tab")}, not yet saved. Leave it open.`
      : WORDS[shown](waiting && number(waiting));
    const say = () => { if (part("state-words").textContent !== words) part("state-words").textContent = words; };
    if (state === "saving") this.#timer = setTimeout(say, PATIENCE);
    else say();
    if (state === "saved") this.#isPutOff = false;
    this.#showSignIn();
    if (this.drawer.loose > 0 && !this.#toldLoose) {
      this.#toldLoose = true;
      toast("This browser has no room to keep labels, so they are sent at once. Leave the page open until they are saved.", "warn");
    }
  }

  surplus() {
    if (this.#toldSurplus) return;
    this.#toldSurplus = true;
    toast("While you were away, others finished some of these pairs. Your labels are kept as extra ones.");
  }

  // signing in again, on the page

  #showSignIn() {
    const isOut = this.#state === "signed-out" || this.#state === "other-account";
    part("sign-in").hidden = !isOut || this.#isPutOff;
    part("sign-in-again").hidden = !isOut || !this.#isPutOff;
    if (!isOut) this.#answer = "";
    else this.#say(this.#answer || (
      this.#state === "other-account"
        ? "Somebody else has signed in with this browser. Your labels wait here for you; signing in signs the other account out."
        : "You are signed out. Go on labelling: your labels are kept here and sent once you have signed in."
    ));
  }

  #say(words) {
    if (part("sign-in-words").textContent !== words) part("sign-in-words").textContent = words;
  }

  async #signIn(form) {
    const { login, logout, username } = page.dataset;
    // this also fetches the cookie that the form's token must match
    const found = await fetch(login, { redirect: "manual" });
    if (found.type === "opaqueredirect") await send(logout, {});
    const response = await send(login, { username, password: form.elements.password.value });
    if (response.type === "opaqueredirect") {
      form.reset();
      this.onSignedIn();
      this.onChange();
      return;
    }
    if (response.ok) this.#answer = `That is not the password of ${username}.`;
    else if (response.status === 429) this.#answer = "Too many tries. Wait a quarter of an hour.";
    else this.#answer = "The server did not take it. Try again.";
    this.#say(this.#answer);
  }

  // labels that the server will not take: kept here until their author has looked at them

  // What is kept of them now: rows of the browser's database.
  async showRefused() {
    const rows = await this.drawer.refused();
    const words = many(rows.length, "not accepted");
    this.#refused = rows;
    part("refused").hidden = rows.length === 0;
    part("refused-count").textContent = words;
    if (rows.length === 0) part("end-refused").hidden = true;
    part("end-refused").textContent = `Show what was not accepted (${number(rows.length)})`;
    dialog("refused").querySelector("ul").replaceChildren(...rows.map((row) => this.#item(row)));
    if (rows.length === 0 && dialog("refused").open) dialog("refused").close();
    if (this.#state === "saved") this.show({ waiting: 0, state: "saved" });
    return rows;
  }

  get refusedCount() {
    return this.#refused.length;
  }

  #openRefused() {
    tellRefused("");
    dialog("refused").showModal();
  }

  // As a table that a spreadsheet or a mail takes.
  async #copy() {
    const text = [COLUMNS, ...this.#refused.map(cellsOf)].map((cells) => cells.map(cell).join("\t")).join("\n");
    tellRefused((await copied(text)) ? `Copied: ${many(this.#refused.length, "label", "labels")}.` : "The browser does not allow copying. Select the text instead.");
  }

  #item(row) {
    const item = document.getElementById("refused-item").content.cloneNode(true).firstElementChild;
    const fill = (name, words) => { item.querySelector(`[data-part="${name}"]`).textContent = words; };
    const [query, description, title, grade, note] = cellsOf(row);
    for (const [name, words] of Object.entries({ query, description, title, grade, note, reason: reasonOf(row) })) fill(name, words);
    item.querySelector("[data-retry]").addEventListener("click", () => this.onRetry([row]));
    item.querySelector("[data-remove]").addEventListener("click", async () => {
      await this.drawer.remove([row]);
      await this.showRefused();
      this.onChange();
    });
    return item;
  }
}
