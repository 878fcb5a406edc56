/*
 * The records of the HTTP working group's test corpus (github.com/httpwg/structured-field-tests, for RFC 9651) that
 * are written by hand there, in our own notation: what is sent, and what it prints as or that it is malformed. Several
 * lines are joined with ", ". The corpus' generated files are sweeps over characters and sizes, which the test makes
 * itself. No licence is stated in the copy these were read from; inputs and verdicts alone are kept.
 */

export type Kind = "structuredItem" | "structuredList" | "structuredDictionary";

/** `printed` is the canonical text, undefined where the text is malformed. */
export interface CorpusRecord {
  readonly kind: Kind;
  readonly text: string;
  readonly printed: string | undefined;
}

function canonical(kind: Kind, ...texts: readonly string[]): CorpusRecord[] {
  return texts.map((text) => ({ kind, text, printed: text }));
}
function malformed(kind: Kind, ...texts: readonly string[]): CorpusRecord[] {
  return texts.map((text) => ({ kind, text, printed: undefined }));
}
function prints(kind: Kind, ...pairs: readonly (readonly [text: string, printed: string])[]): CorpusRecord[] {
  return pairs.map(([text, printed]) => ({ kind, text, printed }));
}

const item = "structuredItem";
const list = "structuredList";
const dictionary = "structuredDictionary";
const foos = "foo ".repeat(65);
const ascii = " !%22#$%25&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

export const corpus: readonly CorpusRecord[] = [
  // binary.json; the two in `prints` may fail by the corpus, and we read them.
  ...canonical(item, ":aGVsbG8=:", "::", ":/+Ah:"),
  ...prints(item, [":aGVsbG8:", ":aGVsbG8=:"], [":iZ==:", ":iQ==:"]),
  ...malformed(item, ":=aGVsbG8=:", ":a=GVsbG8=:", ":aGVsbG8.:", ":aGVsbG8=", ":aGVsb G8=:", ":    :"),
  ...malformed(item, ":aGVsbG!8=:", ":aGVsbG8=!:", ":_-Ah:"),
  // boolean.json
  ...canonical(item, "?1", "?0"),
  ...malformed(item, "?Q", "? 1", "?-0", "?T", "?F", "?t", "?f", "?True", "?False"),
  // date.json
  ...canonical(item, "@0", "@1659578233", "@-1659578233", "@2147483648", "@4294967296"),
  ...malformed(item, "@1659578233.12"),
  // dictionary.json
  ...canonical(dictionary, 'en="Applepie", da=:w4ZibGV0w6ZydGUK:', "", "a=1", "a=(1 2)", "a=(1)", "a=()"),
  ...canonical(dictionary, "a=1, b, c=3", "a, b, c", "a, b=2", "a=1, b", "a=1, b;foo=9, c=3", "a=1, b=2"),
  ...prints(dictionary, ["a=1,b=2", "a=1, b=2"], ["a=1 ,  b=2", "a=1, b=2"], ["a=1\t,\tb=2", "a=1, b=2"]),
  ...prints(dictionary, ["     a=1 ,  b=2", "a=1, b=2"], ["a=1, b=?1;foo=9, c=3", "a=1, b;foo=9, c=3"]),
  ...prints(dictionary, ["a=1,b=2,a=3", "a=3, b=2"]),
  ...malformed(dictionary, "a =1, b=2", "a=1, b= 2", "a=1, b=2,", "a=1,,b=2,", "a=1,1b=2,a=1", "a=1,B=2,a=1"),
  ...malformed(dictionary, "a=1,b!=2,a=1"),
  // display-string.json
  ...canonical(item, '%"foo bar"', `%"${ascii}"`, '%"f%c3%bc%c3%bc"', '%"foo %22bar%22 \\ baz"', '%"BOM: %ef%bb%bf"'),
  ...malformed(item, '%"f%C3%BC%C3%BC"', '%"\t"', '%"\n"', "%'foo'", "%foo", '%foo"', '%"foo', '%"foo %a'),
  ...malformed(item, '%"%c3%28"', '%"%a0%a1"', '%"%g0%1w"', '%"%e2%28%a1"', '%"%f0%28%8c%28"'),
  // examples.json
  ...prints(item, ['2; foourl="https://foo.example.com/"', '2;foourl="https://foo.example.com/"']),
  ...canonical(list, '"foo", "bar", "It was the best of times."', "foo, bar"),
  ...canonical(list, '("foo" "bar"), ("baz"), ("bat" "one"), ()'),
  ...prints(list, ['("foo"; a=1;b=2);lvl=5, ("bar" "baz");lvl=1', '("foo";a=1;b=2);lvl=5, ("bar" "baz");lvl=1']),
  ...prints(list, ['abc;a=1;b=2; cde_456, (ghi;jk=4 l);q="9";r=w', 'abc;a=1;b=2;cde_456, (ghi;jk=4 l);q="9";r=w']),
  ...prints(item, ["1; a; b=?0", "1;a;b=?0"], ["5; foo=bar", "5;foo=bar"]),
  ...canonical(dictionary, 'en="Applepie", da=:w4ZibGV0w6ZydGU=:', "rating=1.5, feelings=(joy sadness)"),
  ...prints(dictionary, ["a=?0, b, c; foo=bar", "a=?0, b, c;foo=bar"]),
  ...canonical(dictionary, "a=(1 2), b=3, c=4;aa=bb, d=(5 6);valid", "foo=1, bar=2"),
  ...canonical(item, "5", "42", "4.5", '"hello world"', ":cHJldGVuZCB0aGlzIGlzIGJpbmFyeSBjb250ZW50Lg==:", "?1"),
  // item.json
  ...malformed(item, "", " \t 1", "1 \t "),
  ...prints(item, ["  1", "1"], ["1  ", "1"], ["  1  ", "1"], ["     1  ", "1"]),
  // list.json
  ...canonical(list, "1, 42", "", "42"),
  ...prints(list, ["  42, 43", "42, 43"], ["1,42", "1, 42"], ["1 , 42", "1, 42"], ["1\t,\t42", "1, 42"]),
  ...malformed(list, "1, 42,", "1,,42"),
  // listlist.json
  ...canonical(list, "(1 2), (42 43)", "(42)", "()"),
  ...prints(list, ["(1),(),(42)", "(1), (), (42)"], ["(  1  42  )", "(1 42)"]),
  ...malformed(list, "(1\t 42)", "(1 42", "(1 2, (42 43)", '(abc"def"?0123*dXZ3*xyz)'),
  // number.json
  ...canonical(item, "42", "0", "-42", "123456789012345", "-123456789012345", "1.23", "-1.23", "123456789012.1"),
  ...canonical(item, "1.123", "-1.123"),
  ...prints(item, ["00", "0"], ["-0", "0"], ["042", "42"], ["-042", "-42"]),
  ...malformed(item, "--0", "2,3", "-a23", "4-2", "- 42", "1234567890123456", "-1234567890123456", "1. 23", "1 .23"),
  ...malformed(item, "- 1.23", "1.5.4", "1..4", "1.1234", "-1.1234", "1234567890123.0", "-1234567890123.0"),
  // param-dict.json
  ...canonical(dictionary, 'abc=123;a=1;b=2, def=456, ghi=789;q=9;r="+w"', "a=3;c;d=5", "a=3;c=5;d"),
  ...prints(dictionary, ["a=b; q=1.0", "a=b;q=1.0"], ["a=(1 2); q=1.0", "a=(1 2);q=1.0"], ["a=b; q=0.5", "a=b;q=0.5"]),
  ...prints(dictionary, ["a=b;c=1,d=e;f=2", "a=b;c=1, d=e;f=2"], ["a=b;c=1, d=e;f=2", "a=b;c=1, d=e;f=2"]),
  ...prints(dictionary, ["a=b;  c=1  ,  d=e; f=2; g=3", "a=b;c=1, d=e;f=2;g=3"]),
  ...malformed(dictionary, "a=b;q =0.5", "a=b;q= 0.5", "a=b ;q=0.5", "a=b; q=1.0,", "a=b; q=1.0,,c=d"),
  // param-list.json
  ...prints(list, ['abc_123;a=1;b=2; cdef_456, ghi;q=9;r="+w"', 'abc_123;a=1;b=2;cdef_456, ghi;q=9;r="+w"']),
  ...canonical(list, "text/html;q=1.0", "text/html;a;q=1.0", "text/html;q=1.0;a", "text/html, text/plain;q=0.5"),
  ...prints(list, ["text/html,text/plain;q=0.5", "text/html, text/plain;q=0.5"]),
  ...prints(list, ["text/html, text/plain; q=0.5", "text/html, text/plain;q=0.5"]),
  ...prints(list, ["text/html  ,  text/plain;  q=0.5;  charset=utf-8", "text/html, text/plain;q=0.5;charset=utf-8"]),
  ...malformed(list, "text/html, text/plain;q =0.5", "text/html, text/plain;q= 0.5", "text/html, text/plain ;q=0.5"),
  ...malformed(list, "text/html,text/plain;q=0.5,", "text/html,,text/plain;q=0.5,"),
  // param-listlist.json
  ...canonical(list, "(abc_123);a=1;b=2, cdef_456", "(abc_123;a=1;b=2;cdef_456)", "(abc_123;a=1;b=2);cdef_456"),
  // string.json
  ...canonical(item, '"foo bar"', '""', `"${foos}"`, '"   "', '"foo \\"bar\\" \\\\ baz"'),
  ...malformed(item, '"füü"', '"\\t"', '" \\n "', "'foo'", '"foo', '"foo \\,"', '"foo \\"', '"foo \\'),
  // token.json
  ...canonical(item, "a_b-c.d3:f%00/*", "fooBar", "FooBar"),
  ...canonical(list, "a_b-c3/*", "fooBar", "FooBar"),
];
