// Where one's labels are: said quietly, all the time. What stands in their way is shown where it can be
// mended without leaving the page: a session that ended, a label that the server will not take.
import { csrf } from "./asking.js";
import { dialog, number, page, part, toast } from "./page.js";

const PATIENCE = 1000; // milliseconds of saving that nobody needs to hear of

const many = (count, one, more) => (count === 1 ? `1 ${one}` : `${number(count)} ${more ?? one}`);

const WORDS = {
  saved: () => "All saved",
  saving: (waiting) => `${waiting} not yet saved`,
  offline: (waiting) => (waiting ? `Offline: ${waiting} not yet saved. Keep going.` : "Offline. Keep going."),
  "signed-out": (waiting) => `${waiting} not yet saved: signed out`,
  "other-account": (waiting) => `${waiting} not yet saved: signed out`,
  "shut-out": (waiting) => `${waiting} not saved: this campaign is no longer open to you. Ask its lead.`,
};

function shownGrade(label) {
  if (label.outcome !== "graded") return label.outcome === "retracted" ? "Taken back" : `Can’t tell: ${label.reason}`;
  const button = page.querySelector(`[data-grade="${label.grade}"]`);
  return button ? `Graded ${button.querySelector(".name").textContent}` : `Graded ${label.grade}`;
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
  #state = "saved";
  #answer = ""; // to the last try to sign in; the next try to send must not wipe it away

  // onSignedIn(): the session is there again. onChange(): other tabs should look, too.
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
    part("refused").addEventListener("click", () => dialog("refused").showModal());
    addEventListener("offline", () => { if (this.#state === "saved") this.show({ waiting: 0, state: "offline" }); });
    this.showRefused();
  }

  show({ waiting, state }) {
    clearTimeout(this.#timer);
    this.#state = state;
    part("state").dataset.state = state;
    const words = this.drawer.loose > 0
      ? `${many(waiting, "only in this tab", "only in this tab")}, not yet saved. Leave it open.`
      : WORDS[state](waiting && number(waiting));
    const say = () => { if (part("state-words").textContent !== words) part("state-words").textContent = words; };
    if (state === "saving") this.#timer = setTimeout(say, PATIENCE);
    else say();
    if (state === "saved") {
      this.#isPutOff = false;
      if (dialog("refused").open) this.showRefused();
    }
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

  async showRefused() {
    const rows = await this.drawer.refused();
    part("refused").hidden = rows.length === 0;
    part("refused-count").textContent = many(rows.length, "not taken");
    dialog("refused").querySelector("ul").replaceChildren(...rows.map((row) => this.#item(row)));
    if (rows.length === 0 && dialog("refused").open) dialog("refused").close();
  }

  #item(row) {
    const item = document.getElementById("refused-item").content.cloneNode(true).firstElementChild;
    const fill = (name, words) => { item.querySelector(`[data-part="${name}"]`).textContent = words; };
    fill("title", row.about?.title || "Untitled");
    fill("query", row.about?.query ?? "");
    fill("grade", shownGrade(row.label));
    fill("reason", row.refused);
    item.querySelector("[data-retry]").addEventListener("click", () => this.onRetry(row));
    item.querySelector("[data-remove]").addEventListener("click", async () => {
      await this.drawer.remove([row]);
      await this.showRefused();
      this.onChange();
    });
    return item;
  }
}
