/** A body with boundary `b`, one character for each byte, and its parts as `name|filename or -|type|content`, or its failure. */
export type Row = readonly [
  id: string,
  what: string,
  body: string,
  expected: readonly string[] | "malformed" | "head_too_large",
];

const form = (parameters: string): string => `Content-Disposition: form-data; ${parameters}\r\n`;
const part = (head: string, content: string): string => `--b\r\n${head}\r\n${content}\r\n`;
const field = (parameters: string, content = "one"): string => part(form(parameters), content);
const only = (head: string, content = "one"): string => `${part(head, content)}--b--\r\n`;
const named = (parameters: string): string => only(form(parameters));

const a = 'name="a"';
const one = ["a|-|text/plain|one"];
const long = "x".repeat(20_000);

export const rows: readonly Row[] = [
  ["MP-01", "two parts", `${field(a)}${field('name="b"', "two")}--b--\r\n`, [...one, "b|-|text/plain|two"]],
  ["MP-01", "nothing after the last boundary", `${field(a)}--b--`, one],
  ["MP-01", "two parts of one name", `${field(a)}${field(a, "two")}--b--`, [...one, "a|-|text/plain|two"]],

  ["MP-02", "text before the first boundary", `preamble\r\n\r\nmore\r\n${named(a)}`, one],
  ["MP-02", "an empty line before it", `\r\n${named(a)}`, one],
  ["MP-02", "a head before it", `${form(a)}\r\n${named(a)}`, one],
  ["MP-02", "a boundary not at a line's start before it", `x--b\r\n--\r\n-b\r\n\r--b\r\n${named(a)}`, one],

  ["MP-03", "text after the last boundary", `${named(a)}epilogue\r\n`, one],
  ["MP-03", "parts after it", `${named(a)}${named('name="b"')}`, one],
  ["MP-03", "text behind it, in its line", `${field(a)}--b-- \t.`, one],

  ["MP-04", "blanks and tabs after a boundary", `--b \t \r\n${form(a)}\r\none\r\n--b-- \t\r\n`, one],
  [
    "MP-04",
    "a boundary of blanks between parts",
    `${field(a)}--b\t\r\n${form(a)}\r\n\r\n--b--`,
    [...one, "a|-|text/plain|"],
  ],
  ["MP-04", "blanks before the dashes of the last one", `${field(a)}--b --\r\n`, "malformed"],

  ["MP-05", "an empty part", only(form(a), ""), ["a|-|text/plain|"]],
  ["MP-05", "an empty part, its blank line the boundary's line end", `--b\r\n${form(a)}\r\n--b--`, ["a|-|text/plain|"]],
  ["MP-05", "content that ends in line ends", only(form(a), "one\r\n\r\n"), ["a|-|text/plain|one\r\n\r\n"]],
  ["MP-05", "content of a line end", only(form(a), "\r\n"), ["a|-|text/plain|\r\n"]],
  [
    "MP-05",
    "content of what a boundary begins with",
    only(form(a), "\r\n--\r\r\n-\r\n--\r"),
    ["a|-|text/plain|\r\n--\r\r\n-\r\n--\r"],
  ],
  ["MP-05", "content of lone line ends", only(form(a), "\n--b\n\r--b--\r"), ["a|-|text/plain|\n--b\n\r--b--\r"]],

  ["MP-06", "a boundary not at a line's start", only(form(a), "x--b y"), ["a|-|text/plain|x--b y"]],
  ["MP-06", "a boundary at a content's start but for a blank", only(form(a), " --b"), ["a|-|text/plain| --b"]],
  [
    "MP-06",
    "the last boundary not at a line's start",
    only(form(a), "--b--").replace("--b--", "x--b--"),
    ["a|-|text/plain|x--b--"],
  ],

  ["MP-07", "a line that begins with the boundary and goes on", only(form(a), "x\r\n--bz\r\ny"), "malformed"],
  ["MP-07", "and goes on with one dash", only(form(a), "x\r\n--b-\r\ny"), "malformed"],
  ["MP-07", "and ends in a lone LF", only(form(a), "x\r\n--b\ny"), "malformed"],
  ["MP-07", "and ends in a lone CR", only(form(a), "x\r\n--b\ry"), "malformed"],
  ["MP-07", "and ends in two CRs and an LF", `--b\r\r\n${form(a)}\r\none\r\n--b--`, "malformed"],
  ["MP-07", "at a content's start", only(form(a), "--bz\r\ny"), "malformed"],
  ["MP-07", "before the first boundary", `--bz\r\n${named(a)}`, "malformed"],
  ["MP-07", "in a head", `--b\r\n${form(a)}--bz\r\n\r\none\r\n--b--`, "malformed"],

  ["MP-08", "no last boundary", field(a), "malformed"],
  ["MP-08", "a last boundary cut short", `${field(a)}--b-`, "malformed"],
  ["MP-08", "an end in the content", `--b\r\n${form(a)}\r\non`, "malformed"],
  ["MP-08", "an end in the head", `--b\r\n${form(a)}`, "malformed"],
  ["MP-08", "a head that meets a boundary", `--b\r\n${form(a)}--b--\r\n`, "malformed"],
  ["MP-08", "lines that end in LF alone", `--b\n${form(a)}\none\n--b--\n`.replaceAll("\r", ""), "malformed"],

  ["MP-09", "no boundary at all", "one\r\ntwo\r\n", "malformed"],
  ["MP-09", "nothing at all", "", "malformed"],
  ["MP-09", "another boundary", named(a).replaceAll("--b", "--c"), "malformed"],
  ["MP-09", "the boundary in another case", named(a).replaceAll("--b", "--B"), "malformed"],

  ["MP-10", "the last boundary alone", "--b--", []],
  ["MP-10", "the last boundary alone, in its line", "--b--\r\n", []],
  ["MP-10", "the last boundary after a preamble", "x\r\n--b--", []],

  ["MP-11", "no Content-Disposition", only("Content-Type: text/plain\r\n"), "malformed"],
  ["MP-11", "another disposition", only('Content-Disposition: attachment; name="a"\r\n'), "malformed"],
  ["MP-11", "an empty Content-Disposition", only("Content-Disposition:\r\n"), "malformed"],
  ["MP-11", "two Content-Dispositions", only(form(a) + form('name="b"')), "malformed"],
  ["MP-11", "two that read as one", only(`${form("name=a;")}Content-Disposition: form-data\r\n`), "malformed"],
  ["MP-11", "form-data in another case", only("content-DISPOSITION:FORM-Data;NAME=a\r\n"), one],

  ["MP-12", "form-data without a name", only("Content-Disposition: form-data\r\n"), "malformed"],
  ["MP-12", "a file without a name", named('filename="x.png"'), "malformed"],
  ["MP-12", "an empty name", named('name=""'), ["|-|text/plain|one"]],
  ["MP-12", "name*, which is no name", named("name*=UTF-8''a"), "malformed"],

  ["MP-13", "a part with no head", "--b\r\n\r\none\r\n--b--", "malformed"],
  ["MP-13", "a part with neither head nor blank line", "--b\r\none\r\n--b--", "malformed"],
  ["MP-13", "a boundary straight after a boundary", "--b\r\n--b--", "malformed"],

  ["MP-14", "a file", only(`${form(`${a}; filename="m.png"`)}Content-Type: image/png\r\n`), ["a|m.png|image/png|one"]],
  ["MP-14", "a file without a type", named(`${a}; filename="m.png"`), ["a|m.png|text/plain|one"]],
  [
    "MP-14",
    "a field with a type",
    only(`${form(a)}Content-Type: Application/JSON;charset=utf-8\r\n`),
    ["a|-|application/json|one"],
  ],
  ["MP-14", "an empty filename", only(form(`${a}; filename=""`), ""), ["a||text/plain|"]],

  [
    "MP-15",
    "a type that is none",
    only(`${form(`${a}; filename=f`)}Content-Type: not a type\r\n`),
    ["a|f|application/octet-stream|one"],
  ],
  ["MP-15", "an empty type", only(`${form(a)}Content-Type: \r\n`), ["a|-|application/octet-stream|one"]],
  [
    "MP-15",
    "two types",
    only(`${form(a)}Content-Type: a/b\r\nContent-Type: c/d\r\n`),
    ["a|-|application/octet-stream|one"],
  ],

  ["MP-16", "a parameter given twice", named('name="a"; NAME="b"'), "malformed"],
  ["MP-16", "a filename given twice", named('name="a"; filename="a"; filename="a"'), "malformed"],

  ["MP-17", "filename*, which is not read", named(`${a}; filename*=UTF-8''x.png`), one],
  ["MP-17", "filename* beside filename", named(`${a}; filename=y; filename*=UTF-8''x`), ["a|y|text/plain|one"]],
  ["MP-17", "unquoted words", named("name=a;filename=m.png"), ["a|m.png|text/plain|one"]],
  ["MP-17", "the name last, after others", named(`x=y ;\tfilename="f" ; ${a};`), ["a|f|text/plain|one"]],
  ["MP-17", "blanks around =", named('name = "a"'), "malformed"],
  ["MP-17", "a parameter without a value", named(`${a}; filename`), "malformed"],
  ["MP-17", "an unquoted value that is no word", named("name=a b"), "malformed"],
  ["MP-17", "text behind a quoted value", named('name="a"b'), "malformed"],
  ["MP-17", "a quote that does not end", named('name="a'), "malformed"],

  ["MP-18", "escapes and a semicolon in quotes", named('name="a \\"q\\" ; b"'), ['a "q" ; b|-|text/plain|one']],
  ["MP-18", "an escaped backslash", named('name="a\\\\"'), ["a\\|-|text/plain|one"]],
  ["MP-18", "a backslash that escapes nothing", named(`${a}; filename="C:\\dir\\x"`), ["a|C:\\dir\\x|text/plain|one"]],
  ["MP-18", "what browsers escape", named('name="%22a%22%0D%0A"'), ['"a"\r\n|-|text/plain|one']],
  ["MP-18", "what they do not", named('name="%41%%0a%25%2"'), ["%41%%0a%25%2|-|text/plain|one"]],
  ["MP-18", "an unquoted %22", named("name=%22"), ["%22|-|text/plain|one"]],

  ["MP-19", "a folded head line", only('Content-Disposition: form-data;\r\n name="a"\r\n'), "malformed"],
  ["MP-19", "folded by a tab", only('Content-Disposition: form-data;\r\n\tname="a"\r\n'), "malformed"],
  ["MP-19", "folded at the head's start", only(` \r\n${form(a)}`), "malformed"],
  ["MP-19", "a head line without a colon", only(`${form(a)}X\r\n`), "malformed"],
  ["MP-19", "a blank before the colon", only(`${form(a)}X : y\r\n`), "malformed"],
  ["MP-19", "a head line without a name", only(`${form(a)}: y\r\n`), "malformed"],
  ["MP-19", "a lone LF in a head line", only(`${form(a)}X: y\nZ: z\r\n`), "malformed"],
  ["MP-19", "a lone CR in a head line", only(`${form(a)}X: y\rZ: z\r\n`), "malformed"],
  ["MP-19", "a lone CR before the blank line", only(`${form(a)}X: y\r\r\n`, long), "malformed"],
  ["MP-19", "a NUL in a name", named('name="a\0"'), "malformed"],

  ["MP-20", "a head too long", named(`name="${long}"`), "head_too_large"],
  ["MP-20", "a head that never ends", `--b\r\nX: ${long}`, "head_too_large"],
  ["MP-20", "a head too long that is malformed too", `--b\r\n${long}\r\n\r\none\r\n--b--`, "head_too_large"],
  ["MP-20", "a long head", only(`X: ${"x".repeat(5000)}\r\n${form(a)}`), one],
  ["MP-20", "other head lines", only(`X-A: 1\r\n${form(a)}Content-Transfer-Encoding: binary\r\n`), one],

  ["FM-10", "names in UTF-8", named('name="\xc3\xa9"; filename="\xe6\x97\xa5.png"'), ["é|日.png|text/plain|one"]],
  ["FM-10", "a byte order mark in a name", named('name="\xef\xbb\xbfa"'), ["\ufeffa|-|text/plain|one"]],
  ["FM-10", "a name that is no UTF-8", named('name="\xff"'), "malformed"],
  ["FM-10", "a filename that is no UTF-8", named(`${a}; filename="\xc3("`), "malformed"],
];
