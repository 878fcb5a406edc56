/** The problems of a JSON body, with their messages (contract 2.5; rows JB, PM). */
import type { MessageCase } from "../case.ts";
import { problems } from "../expected.ts";

type Told = readonly [at: string, code: string, message: string];

/** The problems of a body: the path of the route, the body, the problems. */
const wrong: readonly (readonly [id: string, path: string, body: string, ...told: readonly Told[]])[] = [
  ["JB-03", "echo", '{"times":"many"}', ["body.times", "unexpected_type", "This must be a whole number, not text."]],
  ["JB-06", "order", '{"item":"tea","quantity":0}', ["body.quantity", "too_small", "This must be at least 1."]],
  [
    "JB-07",
    "cart",
    '{"items":[{"count":1},{"count":2},{"count":"x"}]}',
    ["body.items[2].count", "unexpected_type", "This must be a whole number, not text."],
  ],
  [
    "JB every problem at once",
    "order",
    '{"quantity":"x"}',
    ["body.quantity", "unexpected_type", "This must be a whole number, not text."],
    ["body.item", "required", "This is required."],
  ],
  ["JB-18", "strict", '{"a":"x","b":1}', ["body.b", "unknown_member", "This is not a member this object has."]],
  [
    "PM an odd name is quoted",
    "strict",
    '{"a":"x","a b":1}',
    ['body["a b"]', "unknown_member", "This is not a member this object has."],
  ],
  [
    "PM-09",
    "order",
    '{"item":"tea","quantity":1.5}',
    ["body.quantity", "unexpected_type", "This must be a whole number, not a fraction."],
  ],
  ["PM-16", "sorts", '{"number":19}', ["body.number", "too_large", "This must be at most 18."]],
  ["PM-18", "sorts", '{"number":0}', ["body.number", "too_small", "This must be greater than 0."]],
  ["PM-22", "sorts", '{"number":"1"}', ["body.number", "unexpected_type", "This must be a number, not text."]],
  ["PM-24", "sorts", '{"text":3}', ["body.text", "unexpected_type", "This must be text, not a number."]],
  ["PM-25", "sorts", '{"text":"a"}', ["body.text", "too_short", "This must be at least 2 characters long."]],
  ["PM-25", "sorts", '{"text":"🌍🌍🌍🌍🌍🌍"}', ["body.text", "too_long", "This must be at most 5 characters long."]],
  [
    "PM-27",
    "sorts",
    '{"word":3}',
    ["body.word", "unexpected_type", 'This must be one of "black" or "white", not a number.'],
  ],
  ["PM-28", "sorts", '{"list":{}}', ["body.list", "unexpected_type", "This must be a list, not an object."]],
  ["PM-30", "sorts", '{"pair":[1]}', ["body.pair", "too_few", "This must have exactly 2 items."]],
  ["PM-31", "order", "[]", ["body", "unexpected_type", "This must be an object, not a list."]],
  ["PM-31", "order", "null", ["body", "unexpected_type", "This must be an object, not null."]],
  [
    "PM-37",
    "sorts",
    '{"date":"2026-02-30"}',
    ["body.date", "malformed", "This must be a date written as YYYY-MM-DD, like 2026-09-30."],
  ],
  [
    "PM-40",
    "sorts",
    '{"uuid":"x"}',
    ["body.uuid", "malformed", "This must be a UUID, like 01890a5d-ac96-7a3b-9e5a-5f1c2a7b8c9d."],
  ],
  [
    "PM-07",
    "sorts",
    `{"list":${"[".repeat(513)}${"]".repeat(513)}}`,
    ["body", "too_deep", "This is nested more than 512 deep."],
  ],
];

export const bodyProblems: readonly MessageCase[] = wrong.map(([id, path, body, ...told]) => {
  const name = `${id} ${body.slice(0, 60)} is wrong`;
  const headers = [["content-type", "application/json"]] as const;
  return { name, ask: `POST /${path}`, headers, body, answer: problems(...told) };
});
