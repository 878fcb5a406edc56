/** One header value for every codec: a valid value is printed, an invalid one is a 400 (rows CD, FV). */
import type { MessageCase } from "../case.ts";
import { malformed, text } from "../expected.ts";

type Row = readonly [id: string, codec: string, sent: string, printed?: string];

const reads: readonly Row[] = [
  ["CD-01", "int", "42"],
  ["CD-03", "int", "0"],
  ["CD", "int", "-9007199254740991"],
  ["CD-12", "float", "-7.5"],
  ["CD-13", "float", "0.1"],
  ["CD-15", "float", "2.5E-4", "0.00025"],
  ["CD-30", "int64", "9223372036854775807"],
  ["CD-31", "int64", "-9223372036854775808"],
  ["CD-36", "bool", "true"],
  ["CD-37", "bool", "false"],
  ["CD-42", "colour", "blue"],
  ["CD-48", "uuid", "0190F8A4-6D2E-7C3B-9A1F-2B4C6D8E0F12", "0190f8a4-6d2e-7c3b-9a1f-2b4c6d8e0f12"],
  ["CD-49", "uuid", "00000000-0000-0000-0000-000000000000"],
  ["CD-60", "date", "2024-02-29"],
  ["CD-72", "instant", "2026-10-08T12:00:00.000Z"],
  ["CD-73", "instant", "2026-10-08T13:00:00+01:00", "2026-10-08T12:00:00.000Z"],
  ["CD-75", "instant", "2026-09-30T17:30:00.123999+05:30", "2026-09-30T12:00:00.123Z"],
  ["CD-93", "media-type", "application/json"],
  ["FV-01", "media-type", 'text/plain; a="b\\"c\\\\d"', 'text/plain;a="b\\"c\\\\d"'],
  ["FV-03", "media-type", "text/plain; CharSet=utf-8", "text/plain;charset=utf-8"],
  ["FV-04", "media-type", "text/plain ;charset=utf-8", "text/plain;charset=utf-8"],
  ["FV-06", "media-type", "Application/JSON", "application/json"],
  ["CD-99", "credentials", "Basic dXNlcjpwYXNz", "basic dXNlcjpwYXNz"],
  ["FV-16", "credentials", 'Digest username="Mufasa", nc=00000001', "digest username=Mufasa, nc=00000001"],
  ["FV-18", "credentials", "Negotiate", "negotiate"],
  ["CD-102", "accept", "text/html, application/json;q=0.9"],
  ["CD-103", "accept", "*/*"],
  ["FV-24", "accept", "text/html;level=1;q=0.2"],
  ["CD-106", "weighted", "gzip, br;q=0.5"],
  ["CD-111", "cache-control", "max-age=60, private"],
  ["FV-40", "cache-control", "Max-Age=60, No-Store", "max-age=60, no-store"],
  ["FV-42", "cache-control", "no-cache, , private", "no-cache, private"],
  ["CD-114", "forwarded", "for=192.0.2.60;proto=https;by=203.0.113.43", "for=192.0.2.60;by=203.0.113.43;proto=https"],
  ["CD-115", "forwarded", 'for="[2001:db8::1]"'],
  ["CD-118", "item", "1"],
  ["CD-120", "item", '"hello"'],
  ["CD-121", "item", "token;a=1"],
  ["CD-124", "list", "a, b, (c d)"],
  ["CD-127", "dictionary", "a=1, b, c=?0"],
];

const expects: { readonly [codec: string]: string } = {
  int: "a whole number",
  float: "a number",
  int64: "a whole number",
  bool: "true or false",
  colour: "one of blue, gold",
  uuid: "a UUID",
  date: "a date, as 2026-09-30",
  instant: "an instant, as 2026-09-30T12:00:00Z",
  "media-type": "a media type",
  credentials: "credentials",
  accept: "an Accept value",
  weighted: "a list of weighted tokens",
  "cache-control": "a Cache-Control value",
  forwarded: "a Forwarded value",
  item: "a structured item",
  list: "a structured list",
  dictionary: "a structured dictionary",
};

const refuses: readonly Row[] = [
  ["CD-06", "int", "1_000"],
  ["CD-07", "int", "+3"],
  ["CD-10", "int", "99999999999999999999"],
  ["CD-19", "float", ".5"],
  ["CD-24", "float", "inf"],
  ["CD-27", "float", "1e400"],
  ["CD-34", "int64", "0x1"],
  ["CD-39", "bool", "1"],
  ["CD-40", "bool", "TRUE"],
  ["CD-45", "colour", "Blue"],
  ["CD-54", "uuid", "0190f8a4-6d2e-7c3b-9a1f"],
  ["CD-57", "uuid", "01890a5d-ac96-7a3b-ce5a-5f1c2a7b8c9d"],
  ["CD-64", "date", "2026-02-30"],
  ["CD-69", "date", "08/10/2026"],
  ["CD-84", "instant", "2026-09-30T12:00:00z"],
  ["CD-88", "instant", "2026-09-30T12:00:00"],
  ["CD-91", "instant", "9999-12-31T23:59:59-00:01"],
  ["FV-09", "media-type", "text/plain; a=1; a=2"],
  ["FV-10", "media-type", "text/plain; charset = utf-8"],
  ["CD-94", "media-type", "text"],
  ["FV-19", "credentials", "Bearer a b"],
  ["CD-105", "accept", "text/html;q=abc"],
  ["FV-28", "accept", "text/html;q=1.001"],
  ["CD-108", "weighted", "gzip;q=1.5"],
  ["CD-112", "cache-control", 'max-age="60'],
  ["CD-117", "forwarded", "for="],
  ["FV-72", "forwarded", "for=[2001:db8::1]"],
  ["CD-123", "item", "1.2345"],
  ["CD-126", "list", "(a"],
  ["CD-129", "dictionary", "A=1"],
];

export const codecs: readonly MessageCase[] = [
  ...reads.map(([id, codec, sent, printed = sent]): MessageCase => {
    return {
      name: `${id} ${codec} ${sent}`,
      ask: `GET /codec/${codec}`,
      headers: [["x-value", sent]],
      answer: text(printed),
    };
  }),
  ...refuses.map(([id, codec, sent]): MessageCase => {
    const answer = malformed("header.x-value", `This is not ${expects[codec]}.`);
    return { name: `${id} ${codec} is not ${sent}`, ask: `GET /codec/${codec}`, headers: [["x-value", sent]], answer };
  }),
];
