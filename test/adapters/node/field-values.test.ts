/**
 * Header values on the wire (rows FV): the value that a route's codec reads of a header line, and the values that are a 400 at
 * their place. The values themselves are tested in test/codecs; here nothing between the wire and the codec may change them.
 */
import { describe, expect, it } from "vitest";
import { Codec, Header, Path, Returns, get } from "usher-http";
import type { Route } from "usher-http";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import { invalid } from "../../support/refusals.ts";

/** The name of a header, its codec, and the problem of an invalid value. */
const fields = {
  "media type": ["content-type", Codec.mediaType, "a media type"],
  credentials: ["authorization", Codec.credentials, "credentials"],
  Accept: ["accept", Codec.accept, "an Accept value"],
  "token list": ["accept-encoding", Codec.weighted, "a list of weighted tokens"],
  "Cache-Control": ["cache-control", Codec.cacheControl, "a Cache-Control value"],
  Forwarded: ["forwarded", Codec.forwarded, "a Forwarded value"],
  date: ["if-modified-since", Codec.httpDate, "a date of HTTP, as Sun, 06 Nov 1994 08:49:37 GMT"],
  "entity tags": ["if-none-match", Codec.entityTags, "a list of entity tags"],
  Range: ["range", Codec.byteRanges, "ranges, as bytes=0-499"],
} as const;

type Field = keyof typeof fields;

/** A row: the value as sent, and as its codec prints it after reading; undefined if it is refused. */
const rows: readonly (readonly [id: string, field: Field, sent: string, read: string | undefined])[] = [
  ["FV-01", "media type", 'text/plain; a="b\\"c\\\\d"', 'text/plain;a="b\\"c\\\\d"'],
  ["FV-03", "media type", "text/plain; CharSet=utf-8", "text/plain;charset=utf-8"],
  ["FV-04", "media type", "text/plain ;charset=utf-8", "text/plain;charset=utf-8"],
  ["FV-06", "media type", "Application/JSON", "application/json"],
  ["FV-07", "media type", 'text/html;a="b', undefined],
  ["FV-09", "media type", "text/html;a=1;A=2", undefined],
  ["FV-10", "media type", "text/html;charset = utf-8", undefined],
  ["FV-12", "media type", "text", undefined],
  ["FV-13", "credentials", "BeArEr abc", "bearer abc"],
  ["FV-15", "credentials", "Basic dXNlcjpwYXNz==", "basic dXNlcjpwYXNz=="],
  ["FV-16", "credentials", 'Digest username="Mufasa", nc=00000001', "digest username=Mufasa, nc=00000001"],
  ["FV-18", "credentials", "Negotiate", "negotiate"],
  ["FV-19", "credentials", "Bearer a b", undefined],
  ["FV-21", "Accept", "text/html;q=0.5, application/json", "text/html;q=0.5, application/json"],
  ["FV-22", "Accept", "text/html;Q=0.5", "text/html;q=0.5"],
  ["FV-24", "Accept", "text/html;level=1;q=0.2", "text/html;level=1;q=0.2"],
  ["FV-25", "Accept", "*/*;q=0.1, text/*", "*/*;q=0.1, text/*"],
  ["FV-27", "Accept", "text/html;q=1.5", undefined],
  ["FV-28", "Accept", "text/html;q=1.001", undefined],
  ["FV-30", "token list", "gzip;level=1", undefined],
  ["FV-40", "Cache-Control", "Max-Age=60, No-Store", "max-age=60, no-store"],
  ["FV-42", "Cache-Control", "no-cache, , private", "no-cache, private"],
  ["FV-43", "Cache-Control", 'max-age="60"', "max-age=60"],
  ["FV-45", "Cache-Control", "max-age=5, max-age=10", "max-age=5, max-age=10"],
  ["FV-46", "Cache-Control", "max-age = 60", undefined],
  ["FV-48", "date", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"],
  ["FV-49", "date", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"],
  ["FV-51", "date", "Wed, 31 Dec 2008 23:59:60 GMT", "Thu, 01 Jan 2009 00:00:00 GMT"],
  ["FV-52", "date", "Friday, 01-Jan-27 00:00:00 GMT", "Fri, 01 Jan 2027 00:00:00 GMT"],
  ["FV-54", "date", "Wed, 30 Feb 1994 00:00:00 GMT", undefined],
  ["FV-55", "date", "Sun, 06 Nov 1994 08:49:37 UTC", undefined],
  ["FV-57", "entity tags", '"a,b", "c"', '"a,b", "c"'],
  ["FV-58", "entity tags", "*", "*"],
  ["FV-60", "entity tags", "abc", undefined],
  ["FV-61", "Range", "bytes=0-499, -500, 9500-", "bytes=0-499, -500, 9500-"],
  ["FV-63", "Range", "pages=1-2", "pages=1-2"],
  ["FV-64", "Range", "bytes=5-2", undefined],
  ["FV-66", "Range", "bytes=99999999999999999999-", "bytes=9007199254740991-"],
  ["FV-67", "Forwarded", "for=192.0.2.60;proto=http;by=203.0.113.43", "for=192.0.2.60;by=203.0.113.43;proto=http"],
  ["FV-69", "Forwarded", 'for="[2001:db8:cafe::17]:4711"', 'for="[2001:db8:cafe::17]:4711"'],
  ["FV-70", "Forwarded", "for=unknown", "for=unknown"],
  ["FV-72", "Forwarded", "for=[2001:db8::1]", undefined],
  ["FV-73", "Forwarded", 'for="192.0.2.1:70000"', undefined],
  ["FV-75", "Forwarded", "proto=1http", undefined],
  ["FV-76", "Forwarded", "for=192.0.2.1;for=192.0.2.2", undefined],
];

/** Rows without a reader: the package does not negotiate representations for an application. */
const unread: { readonly [what: string]: readonly string[] } = {
  choice: ["FV-31", "FV-33", "FV-34", "FV-36", "FV-37", "FV-39"],
};

function routeOf(name: string, codec: Codec.Codec<unknown>): Route {
  const value = Header.required(name, codec);
  return get(Path.of(name), { inputs: { value }, returns: Returns.text }, ({ value }) => codec.print(value));
}

describe("field values", () => {
  it.each(rows)("%s %s %s", async (_id, field, sent, read) => {
    const [name, codec, expects] = fields[field];
    const { port } = await start([routeOf(name, codec as Codec.Codec<unknown>)]);
    const answered = await (await RawClient.to(port)).ask(`GET /${name}`, [`${name}:\t${sent} `]).answer();
    expect([answered.status, answered.body]).toEqual(
      read === undefined ? [400, invalid([`header.${name}`, "malformed", `This is not ${expects}.`])] : [200, read],
    );
  });

  it("listed here have no reader, and every other row is tested above", () => {
    const readers = Object.keys(Codec).toSorted();
    expect(readers).toEqual(
      [
        "accept",
        "basicLogin",
        "bearerToken",
        "bool",
        "byteRanges",
        "cacheControl",
        "credentials",
        "custom",
        "date",
        "entityTag",
        "entityTags",
        "enum",
        "float",
        "forwarded",
        "httpDate",
        "instant",
        "int",
        "int32",
        "int64",
        "mediaType",
        "string",
        "structuredDictionary",
        "structuredItem",
        "structuredList",
        "uuid",
        "weighted",
      ].toSorted(),
    );
    const all = [...rows.map(([id]) => id), ...Object.values(unread).flat()];
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBe(51);
  });
});
