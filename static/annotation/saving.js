// Where one's labels are: said quietly, all the time. What stands in their way is shown where it can be
// fixed without leaving the page: a session that ended, a label that the server has refused.
import { csrf } from "./api.js";
import { SLOW_SAVING } from "./constants.js";
import { element } from "./dom.js";
import { number } from "./numbers.js";
import { config, dialog, gradeName, part, toast } from "./page.js";
import { refusedTable, shownRow } from "./refused-table.js";
import { format, gettext, ngettext } from "./texts.js";

/** @import { LabelStore } from "./label-store.js" */
/** @import { Row, SavingReport } from "./types.js" */

/**
 * @param {string} text with {count}
 * @param {number} count
 */
const counted = (text, count) => format(text, { count: number(count) });

/** @param {number} waiting */
const signedOut = (waiting) => counted(gettext("{count} not yet saved: signed out"), waiting);

/** @type {Record<SavingReport["shown"], (waiting: number) => string>} waiting: how many labels */
const WORDS = {
  saved: () => gettext("All saved"),
  refused: () => gettext("Not all saved"),
  saving: (waiting) => counted(gettext("{count} not yet saved"), waiting),
  offline: (waiting) =>
    waiting
      ? counted(gettext("Offline: {count} not yet saved. Keep going."), waiting)
      : gettext("Offline. Keep going."),
  "signed-out": signedOut,
  "other-account": signedOut,
};

/**
 * Whether the text is in the clipboard; an address without https has only the old way.
 * @param {string} text
 */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element(dialog("refused"), "textarea", HTMLTextAreaElement);
    area.hidden = false;
    area.value = text;
    area.select();
    const isDone = document.execCommand("copy");
    area.hidden = true;
    return isDone;
  }
}

/** @param {string} words */
function report(words) {
  element(dialog("refused"), '[data-part="refused-told"]', HTMLElement).textContent = words;
}

/**
 * @param {string} url
 * @param {Record<string, string>} fields
 */
async function sendForm(url, fields) {
  const body = new URLSearchParams({ csrfmiddlewaretoken: csrf(), ...fields });
  return fetch(url, { method: "POST", body, redirect: "manual" });
}

/**
 * @typedef {object} SavingOptions
 * @property {LabelStore} store
 * @property {() => void} onSignedIn the session is there again
 * @property {() => void} onChange other tabs should look, too
 * @property {(rows: Row[]) => void} onRetry these refused labels are to be sent again
 * @property {(count: number) => void} onRefused so many refused labels are here
 * @property {() => void} onLineLost the browser has no connection
 */

export class Saving {
  #options;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #saidSurplus = false;
  #saidLoose = false;
  #isPutOff = false;
  /** @type {SavingReport["shown"] | ""} unknown until the browser's database has been read */
  #shown = "";
  /** @type {Row[]} */
  #refused = [];
  #answer = ""; // to the last try to sign in; the next try to send must not wipe it away
  #password = element(part("sign-in"), "[name=password]", HTMLInputElement);

  /** @param {SavingOptions} options */
  constructor(options) {
    this.#options = options;
    const form = part("sign-in");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#signIn(form).catch(() =>
        this.#say(gettext("The server is not responding. Try again in a moment.")),
      );
    });
    element(form, "[data-put-off]", HTMLElement).addEventListener("click", () => {
      this.#isPutOff = true;
      form.hidden = true;
    });
    part("sign-in-again").addEventListener("click", () => {
      this.#isPutOff = false;
      this.#showSignIn();
      this.#password.focus();
    });
    part("refused").addEventListener("click", () => this.#openRefused());
    part("end-refused").addEventListener("click", () => this.#openRefused());
    const buttons = dialog("refused");
    element(buttons, "[data-copy-refused]", HTMLElement).addEventListener("click", () => this.#copy());
    element(buttons, "[data-retry-all]", HTMLElement).addEventListener("click", () => {
      options.onRetry(this.#refused);
    });
    addEventListener("offline", options.onLineLost);
  }

  /** @param {SavingReport} report */
  show({ shown, unsaved }) {
    const { loose } = this.#options.store;
    clearTimeout(this.#timer);
    this.#shown = shown;
    part("state").dataset.state = shown;
    const words =
      loose > 0
        ? counted(gettext("{count} not yet saved, only in this tab. Keep it open."), unsaved)
        : WORDS[shown](unsaved);
    const say = () => {
      if (part("state-words").textContent !== words) part("state-words").textContent = words;
    };
    if (shown === "saving") this.#timer = setTimeout(say, SLOW_SAVING);
    else say();
    if (shown === "saved" || shown === "refused") this.#isPutOff = false;
    this.#showSignIn();
    if (loose > 0 && !this.#saidLoose) {
      this.#saidLoose = true;
      toast(gettext("This browser can’t store labels. Keep this tab open until they are saved."), "warn");
    }
  }

  surplus() {
    if (this.#saidSurplus) return;
    this.#saidSurplus = true;
    toast(
      gettext(
        "Others completed some of these pairs while you were away. Your labels are kept as extra labels.",
      ),
    );
  }

  // signing in again, on the page

  #showSignIn() {
    const isOut = this.#shown === "signed-out" || this.#shown === "other-account";
    part("sign-in").hidden = !isOut || this.#isPutOff;
    part("sign-in-again").hidden = !isOut || !this.#isPutOff;
    if (!isOut) {
      this.#answer = "";
      return;
    }
    const reason =
      this.#shown === "other-account"
        ? gettext(
            "Another account is signed in in this browser. Your labels are kept here. Signing in again signs it out.",
          )
        : gettext(
            "You are signed out. You can keep labelling: labels are kept here and sent once you sign in.",
          );
    this.#say(this.#answer || reason);
  }

  /** @param {string} words */
  #say(words) {
    if (part("sign-in-words").textContent !== words) part("sign-in-words").textContent = words;
  }

  /** @param {HTMLFormElement} form */
  async #signIn(form) {
    const { login, logout, username } = config;
    // this also fetches the cookie that the form's token must match
    const found = await fetch(login, { redirect: "manual" });
    if (found.type === "opaqueredirect") await sendForm(logout, {});
    const response = await sendForm(login, { username, password: this.#password.value });
    if (response.type === "opaqueredirect") {
      form.reset();
      this.#options.onSignedIn();
      this.#options.onChange();
      return;
    }
    if (response.ok) this.#answer = format(gettext("Wrong password for {username}."), { username });
    else if (response.status === 429) this.#answer = gettext("Too many attempts. Try again in 15 minutes.");
    else this.#answer = gettext("Sign-in failed. Try again.");
    this.#say(this.#answer);
  }

  // labels that the server has refused: kept here until their author has looked at them

  /** Shows what is stored of them now; its rows. */
  async showRefused() {
    const rows = await this.#options.store.refused();
    this.#refused = rows;
    part("refused").hidden = rows.length === 0;
    part("refused-count").textContent = counted(gettext("{count} not accepted"), rows.length);
    part("end-refused").textContent = counted(gettext("Show labels not accepted ({count})"), rows.length);
    element(dialog("refused"), "ul", HTMLElement).replaceChildren(...rows.map((row) => this.#item(row)));
    if (rows.length === 0 && dialog("refused").open) dialog("refused").close();
    this.#options.onRefused(rows.length);
    return rows;
  }

  #openRefused() {
    report("");
    dialog("refused").showModal();
  }

  async #copy() {
    const isDone = await copied(refusedTable(this.#refused, gradeName));
    const { length } = this.#refused;
    const done = ngettext("Copied {count} label.", "Copied {count} labels.", length);
    report(
      isDone ? counted(done, length) : gettext("The browser blocked copying. Select the text and copy it."),
    );
  }

  /** @param {Row} row */
  #item(row) {
    const template = element(document, "#refused-item", HTMLTemplateElement).content;
    const item = /** @type {DocumentFragment} */ (template.cloneNode(true));
    for (const [name, words] of Object.entries(shownRow(row, gradeName))) {
      element(item, `[data-part="${name}"]`, HTMLElement).textContent = words;
    }
    element(item, "[data-retry]", HTMLElement).addEventListener("click", () => this.#options.onRetry([row]));
    element(item, "[data-remove]", HTMLElement).addEventListener("click", async () => {
      await this.#options.store.remove([row]);
      await this.showRefused();
      this.#options.onChange();
    });
    return item;
  }
}
