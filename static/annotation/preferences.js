// A person's keys and view of the page: at once here, and soon after on the server for every machine.
import { csrf } from "./asking.js";
import { page, toast } from "./page.js";
import { realign, showTermsOrNot } from "./document.js";

const SIZES = [85, 100, 115, 130, 150, 175, 200];
const WIDTHS = ["narrow", "normal", "wide"];
const SOON = 500;

const { account, preferencesUrl } = page.dataset;
const chosen = {
  keys: JSON.parse(document.getElementById("chosen-keys").textContent),
  text_size: SIZES.find((size) => page.classList.contains(`text-${size}`)) ?? 100,
  line_width: WIDTHS.find((width) => page.classList.contains(`lines-${width}`)) ?? "normal",
  marks_terms: !page.classList.contains("unmarked"),
};
let timer = 0;

export const preferences = chosen;

// Sends them; resolves to the server's words where it refused, and to "" otherwise.
export async function keep() {
  clearTimeout(timer);
  const body = new URLSearchParams({ account, keys: JSON.stringify(chosen.keys), text_size: chosen.text_size, line_width: chosen.line_width });
  if (chosen.marks_terms) body.set("marks_terms", "on");
  try {
    const response = await fetch(preferencesUrl, { method: "POST", headers: { "X-CSRFToken": csrf() }, body });
    if (response.ok) return "";
    return (await response.json()).message;
  } catch {
    toast("Your keys and view hold on this page, but could not be kept.", "warn");
    return "";
  }
}

function keepSoon() {
  clearTimeout(timer);
  timer = setTimeout(keep, SOON);
}

export function resize(by) {
  const place = Math.min(SIZES.length - 1, Math.max(0, SIZES.indexOf(chosen.text_size) + by));
  page.classList.replace(`text-${chosen.text_size}`, `text-${SIZES[place]}`);
  chosen.text_size = SIZES[place];
  realign();
  keepSoon();
}

export function widen() {
  const next = WIDTHS[(WIDTHS.indexOf(chosen.line_width) + 1) % WIDTHS.length];
  page.classList.replace(`lines-${chosen.line_width}`, `lines-${next}`);
  chosen.line_width = next;
  realign();
  keepSoon();
}

export function switchTerms() {
  chosen.marks_terms = !chosen.marks_terms;
  page.classList.toggle("unmarked", !chosen.marks_terms);
  showTermsOrNot();
  keepSoon();
}
