/** What JavaScript can get wrong in conditional requests, ranges and files. */
import { Answer, Path, Returns, get } from "usher-http";
import { Compress, Decompress } from "usher-http/compress";
import { Conditional } from "usher-http/conditional";
import { Files } from "usher-http/files";
import type { Tables } from "./rule.ts";

const hello = get(Path.of("a"), { returns: Returns.text }, () => "hi");
const bytes = new Uint8Array(8);
const read = () => new Blob([bytes]).stream();
const folder = import.meta.dirname;

export const representationTables: Tables = {
  "usher-http/conditional": [
    ["Conditional.answer", (a, v) => Conditional.answer(a, v), [Answer.make(""), { etag: "v1" }]],
    ["Conditional.answer", (etag) => Conditional.answer(Answer.make(""), { etag }), ["v1"]],
    ["Conditional.answer", (at) => Conditional.answer(Answer.make(""), { lastModified: at }), [new Date()]],
    ["Conditional.ranged", (c, o) => Conditional.ranged(c, o), [bytes, {}]],
    ["Conditional.ranged", (length, r) => Conditional.ranged({ length, read: r }), [8, read]],
    ["Conditional.ranged", (type) => Conditional.ranged(bytes, { contentType: type }), ["text/plain"]],
    ["Conditional.ranged", (download) => Conditional.ranged(bytes, { download }), ["a.txt"]],
    ["Conditional.tagJson", (routes) => Conditional.tagJson(routes), [[hello]]],
  ],
  "usher-http/compress": [
    ["Compress.make", (o) => Compress.make(o), [{}]],
    ["Compress.make", (types) => Compress.make({ types }), [["text/*"]]],
    ["Compress.make", (codings) => Compress.make({ encodings: codings }), [["gzip"]]],
    ["Compress.make", (level) => Compress.make({ level }), [6]],
    ["Decompress.make", (o) => Decompress.make(o), [{}]],
    ["Decompress.make", (codings) => Decompress.make({ encodings: codings }), [["gzip"]]],
    ["Decompress.make", (ratio) => Decompress.make({ maxRatio: ratio }), [100]],
  ],
  "usher-http/files": [
    ["Files.directory", (root, o) => Files.directory(root, o), [folder, {}]],
    ["Files.directory", (at) => Files.directory(folder, { at }), ["assets"]],
    ["Files.directory", (index) => Files.directory(folder, { index }), ["index.html"]],
    ["Files.directory", (file) => Files.directory(folder, { fallback: file }), ["rule.ts"]],
    ["Files.directory", (file) => Files.directory(folder, { notFound: file }), ["rule.ts"]],
    ["Files.directory", (folders) => Files.directory(folder, { immutable: folders }), [["assets"]]],
    ["Files.directory", (field) => Files.directory(folder, { cacheControl: field }), ["no-store"]],
    ["Files.directory", (types) => Files.directory(folder, { types }), [{ ts: "text/plain" }]],
    ["Files.directory", (o) => Files.directory(folder, { fallback: o }), [{ file: "rule.ts", under: ["a"] }]],
    ["Files.directory", (file) => Files.directory(folder, { fallback: { file, under: [] } }), ["rule.ts"]],
    ["Files.directory", (under) => Files.directory(folder, { fallback: { file: "rule.ts", under } }), [["a"]]],
    ["Files.directory", (dotfiles) => Files.directory(folder, { dotfiles }), [[".htm"]]],
    ["Files.bundle", (files, o) => Files.bundle(files, o), [{ "a.txt": "a" }, {}]],
    ["Files.bundle", (base64) => Files.bundle({ "a.txt": { base64 } }), ["YQ=="]],
    ["Files.bundle", (index) => Files.bundle({}, { index }), ["index.html"]],
    ["Files.read", (root, o) => Files.read(root, o), [folder, {}]],
    ["Files.read", (maxBytes) => Files.read(folder, { maxBytes }), [1_000_000]],
    ["Files.assets", (b, o) => Files.assets(b, o), [{ fetch }, {}]],
    ["Files.assets", (at) => Files.assets({ fetch }, { at }), ["assets"]],
    ["Files.assets", (folders) => Files.assets({ fetch }, { immutable: folders }), [["a"]]],
    ["Files.assets", (field) => Files.assets({ fetch }, { cacheControl: field }), ["no-store"]],
    ["Files.answer", (path, o) => Files.answer(path, o), [folder, {}]],
    ["Files.answer", (types) => Files.answer(folder, { types }), [{ ts: "text/plain" }]],
    ["Files.answer", (contentType) => Files.answer(folder, { contentType }), ["text/plain"]],
  ],
};
