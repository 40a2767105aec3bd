// What the labelling page's modules agree on, and what one may want to tune. Times are in milliseconds
// where the name does not say otherwise.

// storage in the browser; labels of an open page are in it, so a new name loses them

export const DATABASE = "touchstone";
export const DATABASE_VERSION = 2; // of the first there are none left; it had a second store, which is not used any more
export const LABELS_STORE = "labels";
export const OWNER_INDEX = "desk";

// keys

// as annotation/pages/keys.py has them
export const SHOWN_KEYS = new Map([
  ["ArrowLeft", "←"],
  ["ArrowRight", "→"],
  ["Backspace", "⌫"],
]);
export const NAMED_KEYS = [
  ...["ArrowLeft", "ArrowRight", "Backspace", "Delete", "Insert", "Home", "End"],
  ...["F2", "F4", "F6", "F7", "F8", "F9", "F10"],
];
export const UNASSIGNABLE_KEYS = ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Tab"];

// requests

export const REQUEST_TIMEOUT = 15_000;
export const RETRY_WAITS = [500, 1000, 2000, 5000, 10_000, 15_000];
export const LABELS_A_REQUEST = 50;
export const KEEPALIVE_BYTES = 60_000; // browsers refuse to keep more alive than 64 KiB
export const HISTORY_PAGE = 10; // labels
export const RECENT_LABELS = 5;

// the supply of pairs

export const PAIRS_WANTED = 60; // asked for at a time
export const LOW_SUPPLY = 30; // with fewer ahead, more are asked for
export const URGENT_SUPPLY = 10; // with fewer ahead, what an answer had no room for is fetched without a pause
// Characters of an answer: it is read between two keys, and on a line that is slow it must not keep labels
// waiting.
export const FIRST_CHARACTERS = 100_000; // soon there, and enough to begin with
export const USUAL_CHARACTERS = 1_000_000;
export const FEWEST_CHARACTERS = 250_000;
export const MOST_CHARACTERS = 2_000_000;
export const QUICK_ANSWER = 1000; // what comes within may be more the next time
export const NEXT_REQUEST = 200;
export const EMPTY_RETRY = 2000;
export const AFTER_RELOAD = 15_000; // until when an answer may name pairs that the page before had
export const EMPTY_RETRIES = 3;
export const LONGEST_RENEWAL = 5 * 60_000; // of the lease

// how long one waits for

export const DATABASE_TIMEOUT = 3000; // a browser that never answers, or a tab that keeps the old version open
export const TURN_GRACE = 400; // the turn to label, before another tab is said to have it
export const UNSENT_TIMEOUT = 5000; // labels that are on their way, before older ones are looked up
export const UNSENT_INTERVAL = 100;
export const UNPAINTED = 100; // a paint: a page that nobody sees is not painted
export const IDLE_TIMEOUT = 60; // a browser that is never idle
export const PREFERENCES_DELAY = 500; // more changes before they are sent

// what one notices

export const UNREAD = 300; // a pair is shown so long before a click or tap grades it
export const REPEATED_WARNING = 3000; // said once of what follows so closely
export const FLASH = 1600; // the grade that was just given is shown
export const SLOW_HISTORY = 300; // one waits so long for older labels without a word about it
export const SLOW_SAVING = 1000; // saving that nobody needs to hear of
export const SELECTION_HOLDS = 400; // after it was taken away
export const IDLE_AFTER = 60_000; // without a sign of life is not counted as work

// sizes

export const DOCUMENTS_AHEAD = 2; // made ready
export const MOST_TERM_MATCHES = 500;
export const MOST_FOUND = 1000;
export const MOST_SPANS = 200; // as the server takes them
export const LONG_DOCUMENT = 3000; // characters; a longer one starts at the first of the query's words
export const NEAR_START = 40; // pixels
export const QUOTE_CHARACTERS = 90;
export const EXCERPT_CHARACTERS = 240; // of a document in the list of its query
export const LABELS_ON_THEIR_WAY = 30; // at most
export const PACE_LABELS = 5; // from fewer no pace follows
export const LONGEST_PAIR_SECONDS = 600; // a pair that took longer says little of the others
export const TEXT_SIZES = [85, 100, 115, 130, 150, 175, 200]; // percent
export const LINE_WIDTHS = ["narrow", "normal", "wide"];
