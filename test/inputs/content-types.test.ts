/** A body of a type that a route does not read is a 415. The log has the types that the route reads, and nothing of the body. */
import * as v from "valibot";
import { expect, it } from "vitest";
import { Codec, Dep, Form, Path, Returns, Test, bodyStream, json, jsonLines, multipart, post } from "usher-http";
import type { Dep as AnyDep } from "usher-http";
import { messages } from "../support/logs.ts";

const csv = Dep.ofBody({ contentTypes: ["text/csv", "text/tab-separated-values"] }, (body) => body.length);

it.each<readonly [name: string, reads: string, input: AnyDep<unknown, string, unknown>]>([
  ["json", "application/json", json(v.string())],
  ["Form", "application/x-www-form-urlencoded or multipart/form-data", Form.required("a", Codec.string)],
  ["multipart", "multipart/form-data", multipart({ max: 10 })],
  ["bodyStream", "image/*", bodyStream({ max: 10, contentTypes: ["image/*"] })],
  ["Dep.ofBody", "text/csv or text/tab-separated-values", csv],
  ["jsonLines", "application/x-ndjson or application/jsonl", jsonLines(v.string(), { max: 10 })],
])("a 415 of %s has a log line that it reads %s", async (_name, reads, input) => {
  const route = post(Path.of("a"), { inputs: { input }, returns: Returns.empty() }, () => {});
  const headers = { "content-type": "text/secret" };
  const { status } = await Test.call(Test.app([route]), "POST", "/a", { headers, body: "a" });
  expect(status).toBe(415);
  expect(messages("warn")).toEqual([`POST /a: unsupported_media_type: the route reads ${reads}`]);
});
