"""What the demo asks: questions that programmers really have, in their own words.

Questions that the standard library has no answer to are left out. A description says what a good
answer shows; it is what a judge goes by.
"""

from typing import NamedTuple


class DemoQuery(NamedTuple):
    """One information need. `weight` is how often it is asked, relative to the others."""

    qid: str
    segment: str
    text: str
    description: str
    weight: float = 1.0


QUERIES = (
    DemoQuery(
        "files-1",
        "files",
        "how do I read a file line by line",
        "The asker has a text file on disk and wants to go through it one line at a time without "
        "loading everything first. A good answer names what opens the file or what yields its "
        "lines, and says that the result can be iterated or read a line at a time.",
        3.0,
    ),
    DemoQuery(
        "files-2",
        "files",
        "copy a file to another directory",
        "The asker wants a second copy of an existing file in another place. A good answer names "
        "a function that copies a file's content, and says what happens with the destination, "
        "with permissions or with metadata. Moving, renaming or copying objects in memory is not "
        "it.",
        2.0,
    ),
    DemoQuery(
        "files-3",
        "files",
        "delete a directory and everything in it",
        "The asker wants to remove a directory tree that is not empty. A good answer names a "
        "function that removes recursively. Removing one file or an empty directory is only part "
        "of the way.",
        2.0,
    ),
    DemoQuery(
        "files-4",
        "files",
        "list all files matching a pattern like *.txt in subfolders",
        "The asker wants paths found by wildcard, also in nested directories. A good answer names "
        "a function that yields the matching paths and says how to go into subdirectories. "
        "Matching one name against a pattern helps partly.",
        2.0,
    ),
    DemoQuery(
        "files-5",
        "files",
        "create a temporary directory that is removed automatically",
        "The asker needs a scratch directory for the length of a piece of work, cleaned up "
        "afterwards without own code. A good answer names the function or context manager and "
        "says when the directory is removed. Temporary files are related only.",
    ),
    DemoQuery(
        "files-6",
        "files",
        "check if a file exists",
        "The asker has a path and wants to know whether something, or a regular file, is there. A "
        "good answer names the test and says what it gives for missing paths or broken links.",
        3.0,
    ),
    DemoQuery(
        "files-7",
        "files",
        "get the file extension, the suffix of a path",
        "The asker has a file name or path and wants the part after the last dot. A good answer "
        "names a function or attribute that gives the suffix, and ideally says what happens "
        "without one.",
    ),
    DemoQuery(
        "files-8",
        "files",
        "join folder and file name into a path",
        "The asker wants to combine parts of a path with the right separator. A good answer names "
        "the function or operator that joins path components and says what an absolute part does.",
    ),
    DemoQuery(
        "files-9",
        "files",
        "get the size of a file",
        "The asker wants to know how big a file on disk is. A good answer names a function that "
        "returns the size, or the stat call whose result holds it.",
    ),
    DemoQuery(
        "files-10",
        "files",
        "walk through a directory tree",
        "The asker wants to visit every directory and file below a starting point. A good answer "
        "names a function that does the walking and says what it yields at each step.",
        2.0,
    ),
    DemoQuery(
        "files-11",
        "files",
        "free space left on disk",
        "The asker wants to know how much room a disk or file system still has. A good answer "
        "names a function that returns the free bytes of the file system a path is on.",
    ),
    DemoQuery(
        "archives-1",
        "archives",
        "extract all files from a zip archive",
        "The asker has a ZIP file (other archives are acceptable second best) and wants its "
        "content on disk. A good answer names the class or function that extracts all members to "
        "a directory.",
        2.0,
    ),
    DemoQuery(
        "archives-2",
        "archives",
        "compress data with gzip",
        "The asker wants bytes or a file compressed in gzip format. A good answer names a function "
        "or class that writes gzip. Other formats (bz2, lzma) are related only.",
    ),
    DemoQuery(
        "archives-3",
        "archives",
        "create a tar.gz archive of a directory",
        "The asker wants a whole directory packed into one compressed tar archive. A good answer "
        "shows how to create the archive or how to add a directory with what is below it.",
    ),
    DemoQuery(
        "text-1",
        "text",
        "split a string by a separator",
        "The asker wants a string cut into pieces at a given separator. A good answer names the "
        "method or function, says what it returns and how the separator or the number of splits "
        "is given.",
        3.0,
    ),
    DemoQuery(
        "text-2",
        "text",
        "remove whitespace from both ends of a string",
        "The asker wants leading and trailing blanks dropped. A good answer names the string "
        "method that strips both ends; methods for one end are half an answer.",
        2.0,
    ),
    DemoQuery(
        "text-3",
        "text",
        "regular expression substitution, replace matches in a string",
        "The asker wants every match of a pattern replaced by other text. A good answer names the "
        "substitution function or method and says what the replacement may be. Replacement of "
        "plain text without patterns is related.",
        2.0,
    ),
    DemoQuery(
        "text-4",
        "text",
        "wrap long text to a given width",
        "The asker has a paragraph and wants lines no longer than some width. A good answer names "
        "a function that wraps or fills text and its width parameter.",
    ),
    DemoQuery(
        "text-5",
        "text",
        "find close matches for a misspelled word, fuzzy matching",
        "The asker has a word and wants the most alike among several, or a ratio of likeness. A "
        "good answer names what measures similarity or returns close matches.",
    ),
    DemoQuery(
        "text-6",
        "text",
        "convert a string to bytes with utf-8 encoding",
        "The asker has text and needs bytes (or has bytes and needs text). A good answer names "
        "the encoding step, its encoding argument and what happens on errors. Decoding alone is "
        "the opposite direction and helps partly.",
        2.0,
    ),
    DemoQuery(
        "text-7",
        "text",
        "format a number with two decimals in a string",
        "The asker wants a number shown with a fixed number of decimal places. A good answer "
        "explains the format specification or an operator or method that applies it.",
        2.0,
    ),
    DemoQuery(
        "text-8",
        "text",
        "make the first letter of each word uppercase",
        "The asker wants title case. A good answer names a method or function that capitalises "
        "the words of a string; one that capitalises only the first character of the string is "
        "half an answer.",
    ),
    DemoQuery(
        "text-9",
        "text",
        "compare two lists of lines and show the differences",
        "The asker wants to compare two texts or lists of lines and see what changed. A good "
        "answer names a function or class that produces a diff and says in which form.",
    ),
    DemoQuery(
        "text-10",
        "text",
        "escape special characters in html",
        "The asker wants to put text into a page safely, with <, > and & turned into entities. A "
        "good answer names the escaping function for HTML; for XML it is second best. The "
        "opposite direction is related.",
    ),
    DemoQuery(
        "dates-1",
        "dates",
        "parse a date from a string",
        "The asker has text such as '2024-05-01 10:30' and wants a date or time object, or at "
        "least its parts. A good answer names a parsing function for dates and says which format "
        "it accepts or how the format is given.",
        3.0,
    ),
    DemoQuery(
        "dates-2",
        "dates",
        "format a datetime as text",
        "The asker has a date or time and wants it written as text in a chosen format. A good "
        "answer names the formatting function or method and how the format is given.",
        2.0,
    ),
    DemoQuery(
        "dates-3",
        "dates",
        "get the current date or time",
        "The asker wants today's date or the present moment. A good answer names the call that "
        "returns it, in local time or UTC.",
        2.0,
    ),
    DemoQuery(
        "dates-4",
        "dates",
        "difference between two dates in days",
        "The asker wants to subtract one date from another, or to add days to a date. A good "
        "answer shows the type that a difference has, or how it is obtained or read.",
    ),
    DemoQuery(
        "dates-5",
        "dates",
        "convert a unix timestamp to a date",
        "The asker has seconds since the epoch and wants a calendar date or time. A good answer "
        "names a function that converts a timestamp, and says whether it gives local time or UTC. "
        "The opposite direction is related.",
        2.0,
    ),
    DemoQuery(
        "dates-6",
        "dates",
        "which day of the week is a date",
        "The asker has a date and wants Monday to Sunday, as a number or a name. A good answer "
        "names a function or method that returns it and says where counting starts.",
    ),
    DemoQuery(
        "dates-7",
        "dates",
        "convert time to another timezone",
        "The asker has a moment in one time zone and wants it in another. A good answer names the "
        "conversion or the time zone class that it needs.",
    ),
    DemoQuery(
        "dates-8",
        "dates",
        "is this year a leap year",
        "The asker wants to test a year. A good answer names the function that says whether a "
        "year is a leap year; counting leap years in a range is related.",
    ),
    DemoQuery(
        "data-1",
        "data structures",
        "count how often each item occurs in a list",
        "The asker wants a tally of the elements of an iterable. A good answer names the class "
        "that counts all items, or how to get the most common ones. Counting one value is partly "
        "relevant.",
        2.0,
    ),
    DemoQuery(
        "data-2",
        "data structures",
        "sort a list of dictionaries by a key",
        "The asker wants to sort items by one of their values. A good answer names a sorting "
        "function or method with its key parameter, or a function that makes such a key.",
        3.0,
    ),
    DemoQuery(
        "data-3",
        "data structures",
        "update a dictionary with the items of another",
        "The asker has two mappings and wants the items of one in the other, or of both in a "
        "new one. "
        "A good answer names the method, operator or class that does it and says which value wins.",
        2.0,
    ),
    DemoQuery(
        "data-4",
        "data structures",
        "dictionary with a default value for missing keys",
        "The asker does not want a KeyError for a missing key. A good answer names the dictionary "
        "type or method that supplies or stores a default.",
        2.0,
    ),
    DemoQuery(
        "data-5",
        "data structures",
        "priority queue with smallest item first",
        "The asker wants a structure that always gives the smallest element. A good answer names "
        "a heap or a priority queue and its push or pop.",
    ),
    DemoQuery(
        "data-6",
        "data structures",
        "insert into a sorted list keeping it in order",
        "The asker has a sorted list and wants to add an item without sorting again, or to find "
        "its position. A good answer names the function that inserts or finds the place by "
        "bisection.",
    ),
    DemoQuery(
        "data-7",
        "data structures",
        "all combinations or permutations of a list",
        "The asker wants every selection or ordering of given items. A good answer names the "
        "iterator that generates combinations, permutations or products. Only counting them is "
        "related.",
    ),
    DemoQuery(
        "data-8",
        "data structures",
        "unique elements of a list, remove duplicates",
        "The asker wants each element only once. A good answer shows a type or function that "
        "keeps unique elements, such as a set or the keys of a dictionary.",
        2.0,
    ),
    DemoQuery(
        "data-9",
        "data structures",
        "zip two lists of different length",
        "The asker wants pairs of elements from two or more iterables. A good answer names the "
        "function that pairs them, and what happens when lengths differ.",
    ),
    DemoQuery(
        "data-10",
        "data structures",
        "deep copy of a nested list",
        "The asker wants a copy that shares nothing with the original, including nested objects. "
        "A good answer names the deep copy operation or explains shallow against deep.",
    ),
    DemoQuery(
        "data-11",
        "data structures",
        "loop with an index, enumerate a list",
        "The asker wants position and element together in a loop. A good answer names the "
        "function that yields (index, item); finding the index of one value is related.",
    ),
    DemoQuery(
        "formats-1",
        "formats",
        "read json from a file",
        "The asker has a file that holds JSON and wants Python objects. A good answer names the "
        "function that reads JSON from a file, or from a string as second best. Writing JSON is "
        "related.",
        3.0,
    ),
    DemoQuery(
        "formats-2",
        "formats",
        "write rows to a csv file",
        "The asker has rows of values and wants a CSV file. A good answer names the writer and "
        "the method that writes rows. Reading CSV is related.",
        2.0,
    ),
    DemoQuery(
        "formats-3",
        "formats",
        "parse an xml document and find elements",
        "The asker wants to read XML and get at certain elements. A good answer names a parsing "
        "function or the way to search the tree that it gives.",
    ),
    DemoQuery(
        "formats-4",
        "formats",
        "read settings from an ini config file",
        "The asker has an INI file and wants its options. A good answer names the parser or the "
        "method that reads the file or gets a value.",
    ),
    DemoQuery(
        "formats-5",
        "formats",
        "save python objects to disk and load them again",
        "The asker wants to store arbitrary objects between runs of a program. A good answer "
        "names a way to serialise objects to a file, or to read them back.",
    ),
    DemoQuery(
        "formats-6",
        "formats",
        "encode binary data as base64 text",
        "The asker has bytes and needs Base64. A good answer names an encoding function for "
        "Base64; other bases are second best, decoding is related.",
    ),
    DemoQuery(
        "processes-1",
        "processes",
        "run a shell command and capture its output",
        "The asker wants to start another program and get what it printed. A good answer names "
        "the function and how the output is captured or returned.",
        3.0,
    ),
    DemoQuery(
        "processes-2",
        "processes",
        "run a function in parallel in a pool of processes",
        "The asker has work that keeps a processor busy and wants to use several processes. A "
        "good answer names a pool or executor of processes, or its map. Threads are second best.",
        2.0,
    ),
    DemoQuery(
        "processes-3",
        "processes",
        "run a function in a background thread",
        "The asker wants code to run alongside the main program. A good answer names the thread "
        "class, a thread pool or an equivalent, and how work is started.",
    ),
    DemoQuery(
        "processes-4",
        "processes",
        "wait for several async tasks to finish",
        "The asker has coroutines or tasks and wants to go on when all (or the first) are done. A "
        "good answer names the call or the class that waits for a group and what it returns.",
    ),
    DemoQuery(
        "processes-5",
        "processes",
        "set a timeout for a coroutine",
        "The asker wants an awaited operation to be given up after some seconds. A good answer "
        "names the function or context manager and what it raises.",
    ),
    DemoQuery(
        "processes-6",
        "processes",
        "read an environment variable",
        "The asker wants the value of a variable of the process environment, perhaps with a "
        "default. A good answer names the function or mapping that holds it. Setting a variable "
        "is related.",
        2.0,
    ),
    DemoQuery(
        "processes-7",
        "processes",
        "handle a keyboard interrupt, the ctrl+c signal",
        "The asker wants to handle an interrupt from the keyboard. A good answer names the signal "
        "handler or the exception raised.",
    ),
    DemoQuery(
        "processes-8",
        "processes",
        "lock so that only one thread at a time uses a resource",
        "The asker wants mutual exclusion among threads. A good answer names a lock (or semaphore, "
        "condition) for threads and how it is acquired and released. Locks of asyncio are for "
        "coroutines: partly relevant.",
    ),
    DemoQuery(
        "processes-9",
        "processes",
        "parse command line arguments",
        "The asker writes a script with options and arguments. A good answer names a parser for "
        "command lines, or how to add and read arguments.",
        3.0,
    ),
    DemoQuery(
        "networking-1",
        "networking",
        "open a url and read the response",
        "The asker has a URL and wants its content. A good answer names the function that opens "
        "or retrieves a URL and what it returns.",
        3.0,
    ),
    DemoQuery(
        "networking-2",
        "networking",
        "split a url into its parts",
        "The asker wants host, path, query string and so on from a URL. A good answer names the "
        "function that parses a URL and says which parts it gives.",
    ),
    DemoQuery(
        "networking-3",
        "networking",
        "send an email with an attachment",
        "The asker wants to compose and send mail. A good answer names the class that sends, or "
        "the one that adds an attachment to a message. Reading mail is not relevant.",
    ),
    DemoQuery(
        "networking-4",
        "networking",
        "start a simple http server",
        "The asker wants to serve files or pages for a trial. A good answer names the server or "
        "the request handler and how it is started.",
    ),
    DemoQuery(
        "networking-5",
        "networking",
        "open a tcp connection to a host and port",
        "The asker wants a client connection. A good answer names the function or method that "
        "connects to an address, blocking or asynchronous.",
    ),
    DemoQuery(
        "networking-6",
        "networking",
        "check whether an ip address is in a network",
        "The asker has addresses and networks such as 10.0.0.0/8. A good answer names the classes "
        "or factories for addresses and networks, or the test for membership or overlap.",
    ),
    DemoQuery(
        "networking-7",
        "networking",
        "encode parameters for a url query string",
        "The asker wants a dictionary turned into 'a=1&b=2', with special characters quoted. A "
        "good answer names the function for the whole string; quoting one value helps partly.",
    ),
    DemoQuery(
        "numbers-1",
        "numbers",
        "random integer between two numbers",
        "The asker wants a random whole number from a range. A good answer names the function and "
        "says whether the ends are included.",
        2.0,
    ),
    DemoQuery(
        "numbers-2",
        "numbers",
        "round a number up to the next integer",
        "The asker wants the ceiling of a number. A good answer names it; rounding to nearest or "
        "down is related.",
    ),
    DemoQuery(
        "numbers-3",
        "numbers",
        "check whether two floating point numbers are almost equal",
        "The asker has been bitten by 0.1 + 0.2 != 0.3. A good answer names a function that "
        "compares with a tolerance and its tolerance parameters.",
    ),
    DemoQuery(
        "numbers-4",
        "numbers",
        "mean and standard deviation of a list of numbers",
        "The asker wants basic statistics. A good answer names the function for the mean or for "
        "the standard deviation of data; other averages or spreads are partly relevant.",
        2.0,
    ),
    DemoQuery(
        "numbers-5",
        "numbers",
        "pick a random element from a list",
        "The asker wants one or several elements chosen at random. A good answer names the "
        "function and whether elements can repeat. Shuffling helps partly.",
        2.0,
    ),
    DemoQuery(
        "numbers-6",
        "numbers",
        "convert a hexadecimal string to an integer",
        "The asker has digits as text in base 16 and wants the number. A good answer names the "
        "conversion and how the base is given. The opposite direction, number to text, is related.",
        2.0,
    ),
    DemoQuery(
        "numbers-7",
        "numbers",
        "decimal arithmetic for money, rounding to cents",
        "The asker wants no binary rounding errors in amounts. A good answer describes decimal "
        "numbers or how to round or quantize them to cents.",
    ),
    DemoQuery(
        "numbers-8",
        "numbers",
        "greatest common divisor",
        "The asker wants the greatest common divisor of integers. A good answer names the "
        "function; fractions in lowest terms or the least common multiple are related.",
    ),
    DemoQuery(
        "testing-1",
        "testing and debugging",
        "test that a function raises an exception",
        "The asker writes a unit test. A good answer names the assertion that expects an "
        "exception and how it is used.",
    ),
    DemoQuery(
        "testing-2",
        "testing and debugging",
        "mock a function in a unit test",
        "The asker wants to replace a function or object during a test. A good answer names the "
        "patching or mock facility and what it does.",
    ),
    DemoQuery(
        "testing-3",
        "testing and debugging",
        "measure the execution time of a piece of code",
        "The asker wants timings. A good answer names a timer made for measuring durations, or a "
        "tool that times a snippet or profiles a program.",
        2.0,
    ),
    DemoQuery(
        "testing-4",
        "testing and debugging",
        "print the traceback of an exception",
        "The asker has caught an exception and wants its trace printed or as text. A good answer "
        "names a function that prints or formats a traceback.",
    ),
    DemoQuery(
        "testing-5",
        "testing and debugging",
        "write log messages to a file",
        "The asker wants logging to go to a file, perhaps rotating. A good answer names the "
        "configuration call or the handler.",
        2.0,
    ),
    DemoQuery(
        "testing-6",
        "testing and debugging",
        "set a breakpoint and step through code",
        "The asker wants to debug interactively. A good answer names the debugger, the call that "
        "enters it, or its commands to set breakpoints and to step.",
    ),
    DemoQuery(
        "testing-7",
        "testing and debugging",
        "find memory leaks, see where memory is allocated",
        "The asker's program grows. A good answer names what traces allocations, compares "
        "snapshots or lists the objects alive.",
    ),
    DemoQuery(
        "language-1",
        "language",
        "cache the results of a function",
        "The asker calls a pure function repeatedly and wants remembered results. A good answer "
        "names a decorator that caches, and its limits.",
        2.0,
    ),
    DemoQuery(
        "language-2",
        "language",
        "how does with work, write my own context manager",
        "The asker wants to write something usable in a with statement. A good answer explains "
        "the statement, the methods of a context manager, or a decorator that makes one.",
    ),
    DemoQuery(
        "language-3",
        "language",
        "catch several exceptions in one except clause",
        "The asker handles errors. A good answer explains the try statement and how an except "
        "clause names one or several exception types.",
        2.0,
    ),
    DemoQuery(
        "language-4",
        "language",
        "define a class with fields without writing __init__",
        "The asker wants a plain record type. A good answer names a decorator or factory that "
        "generates the constructor from fields.",
    ),
    DemoQuery(
        "language-5",
        "language",
        "compare objects by identity or by equality, is or ==",
        "The asker wants to know identity against equality. A good answer explains the comparison "
        "operators or the identity test.",
    ),
    DemoQuery(
        "language-6",
        "language",
        "get the names of a function's parameters",
        "The asker inspects a callable. A good answer names what returns the signature or the "
        "parameters of a function.",
    ),
    DemoQuery(
        "language-7",
        "language",
        "set of named constants, enumeration",
        "The asker wants an enum type. A good answer names the class to derive from or a variant "
        "such as flags, or automatic values.",
    ),
    DemoQuery(
        "language-8",
        "language",
        "import a module when its name is in a string",
        "The asker loads modules dynamically. A good answer names the function that imports by "
        "name. How the import statement works in general is related.",
    ),
    DemoQuery(
        "security-1",
        "security",
        "sha256 checksum of a file",
        "The asker wants a digest of a file's content. A good answer names the hash, or a helper "
        "that hashes a file, or how data is fed to it. Checksums such as CRC are related.",
    ),
    DemoQuery(
        "security-2",
        "security",
        "generate a secure random token",
        "The asker needs a secret for a URL or a password reset. A good answer names a source of "
        "randomness meant for secrets, best one that returns text.",
    ),
    DemoQuery(
        "security-3",
        "security",
        "ask for a password without showing it",
        "The asker prompts in a terminal. A good answer names the function that reads a password "
        "without echo.",
    ),
    DemoQuery(
        "databases-1",
        "databases",
        "open a sqlite database and run a query",
        "The asker wants SQL from Python. A good answer names the connection, the cursor or the "
        "method that executes a statement.",
        2.0,
    ),
    DemoQuery(
        "databases-2",
        "databases",
        "fetch all rows of a sql query result",
        "The asker has executed a SELECT and wants the result. A good answer names the methods "
        "that fetch one, many or all rows, or the row type.",
    ),
)
