/** JSON bodies: how they are sent, and how they are read (rows JB). */
import type { MessageCase } from "../case.ts";
import { json, malformed, refused, text, tooLong, unsupportedType } from "../expected.ts";

const as = (type: string) => [["content-type", type]] as const;
const typed = as("application/json");
const echoed = (body: string, answer = body) => ({ body, answer: json(answer, { status: 201 }) });
const lee = echoed('{"name":"lee","times":3}');
const signIn = refused(401, "no_session", "Sign in first.", { headers: [["www-authenticate", 'Cookie realm="t"']] });
const notJson = malformed("body", "This is not JSON.");

const bodies: readonly MessageCase[] = [
  {
    name: "JB-01 no body reads as an empty object",
    ask: "POST /echo",
    answer: json('{"name":"nobody","times":1}', { status: 201 }),
  },
  {
    name: "JB-01 so does a body of nothing",
    ask: "POST /echo",
    headers: typed,
    ...echoed("", '{"name":"nobody","times":1}'),
  },
  {
    name: "JB-01 and one of blanks",
    ask: "POST /echo",
    headers: typed,
    ...echoed(" \r\n\t", '{"name":"nobody","times":1}'),
  },
  { name: "JB-02 a body", ask: "POST /echo", headers: typed, ...lee },
  {
    name: "JB-02 a body in chunks",
    ask: "POST /echo",
    headers: typed,
    body: { chunks: ['{"name":"l', 'ee","times":3}'] },
    answer: lee.answer,
  },
  {
    name: "JB-02 chunks that cut a character",
    ask: "POST /echo",
    body: { chunks: [new Uint8Array([...Buffer.from('{"name":"'), 0xc3]), new Uint8Array([0xbc, 0x22, 0x7d])] },
    answer: json('{"name":"ü","times":1}', { status: 201 }),
  },
  { name: "JB-02 of a PUT", ask: "PUT /echo", headers: typed, body: lee.body, answer: json(lee.body) },
  { name: "JB-02 of a PATCH", ask: "PATCH /echo", headers: typed, body: lee.body, answer: json(lee.body) },
  { name: "JB-04 what is no JSON", ask: "POST /echo", headers: typed, body: "not json", answer: notJson },
  { name: "JB-04 what is cut short", ask: "POST /echo", headers: typed, body: '{"name":"lee"', answer: notJson },
  {
    name: "JB-04 what is no UTF-8",
    ask: "POST /echo",
    headers: typed,
    body: new Uint8Array([0x22, 0xff, 0x22]),
    answer: notJson,
  },
  { name: "JB-09 a type with the suffix", ask: "POST /echo", headers: as("application/merge-patch+json"), ...lee },
  { name: "JB a type with parameters", ask: "POST /echo", headers: as("Application/JSON; charset=utf-8"), ...lee },
  { name: "JB-10 no type", ask: "POST /echo", ...lee },
  { name: "JB-11 another type", ask: "POST /echo", headers: as("text/plain"), body: "{}", answer: unsupportedType },
  {
    name: "JB-11 a form's type",
    ask: "POST /echo",
    headers: as("application/x-www-form-urlencoded"),
    body: "a=b",
    answer: unsupportedType,
  },
  {
    name: "JB-12 a type that cannot be read",
    ask: "POST /echo",
    headers: as("application/json; ="),
    body: "{}",
    answer: unsupportedType,
  },
  { name: "JB-12 half a type", ask: "POST /echo", headers: as("application"), body: "{}", answer: unsupportedType },
  {
    name: "JB-13 a refusal of one's own for what does not fit",
    ask: "POST /wrong",
    headers: typed,
    body: '{"name":3}',
    answer: refused(400, "wrong_shape", "Not a greeting."),
  },
  {
    name: "JB-15 a body past the limit",
    on: "small",
    ask: "POST /echo",
    headers: typed,
    body: `{"name":"${"x".repeat(200)}"}`,
    answer: tooLong(),
  },
  {
    name: "JB-16 a body within it",
    on: "small",
    ask: "POST /echo",
    headers: typed,
    ...echoed('{"name":"kim"}', '{"name":"kim","times":1}'),
  },
  {
    name: "IN-05 a refusal, and the body was not read",
    ask: "POST /signed",
    headers: typed,
    body: "not json",
    answer: signIn,
  },
  {
    name: "IN-06 no refusal, and it is read",
    ask: "POST /signed",
    headers: [...typed, ["cookie", "session=s"]],
    body: '{"name":"kim"}',
    answer: text("kim s"),
  },
  {
    name: "IN-39 a type that is refused beats a problem",
    ask: "POST /paged?page=two",
    headers: as("text/plain"),
    body: "{}",
    answer: unsupportedType,
  },
  {
    name: "IN-40 refusals are taken left to right",
    ask: "POST /signed",
    headers: as("text/plain"),
    body: "{}",
    answer: unsupportedType,
  },
  {
    name: "IN a problem of the first stage, and the body was not read",
    ask: "POST /paged?page=two",
    body: "not json",
    answer: malformed("query.page", "This is not a whole number."),
  },
];

/** Values that are read and written again. */
const read: readonly (readonly [id: string, path: string, body: string, answer: string])[] = [
  ["JB-19 null for what is optional", "note", '{"note":null}', "{}"],
  ["JB-21 what is absent stays absent", "note", "{}", "{}"],
  ["JB a member that nobody names is dropped", "note", '{"note":"a","other":1}', '{"note":"a"}'],
  ["PM-10 a whole value spelled otherwise", "order", '{"item":"tea","quantity":2.0}', '{"item":"tea","quantity":2}'],
  ["PM-13 64 bits, exact", "sorts", '{"big":9223372036854775807}', '{"big":9223372036854775807}'],
  ["JB escapes", "note", '{"note":"\\u00fc\\n\\ud83c\\udf0d"}', '{"note":"ü\\n🌍"}'],
  [
    "PM an instant with an offset",
    "sorts",
    '{"instant":"2026-10-08T13:00:00+01:00"}',
    '{"instant":"2026-10-08T12:00:00.000Z"}',
  ],
];

export const jsonBodies: readonly MessageCase[] = [
  ...bodies,
  ...read.map(([id, path, body, answer]): MessageCase => {
    return { name: `${id} is read`, ask: `POST /${path}`, headers: typed, body, answer: json(answer) };
  }),
];
