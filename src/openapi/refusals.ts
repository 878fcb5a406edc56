import type { Code } from "../refusals/code.ts";
import * as codes from "../refusals/framework-codes.ts";
import type { Route } from "../routes/route.ts";
import { comeAgain, howToProve, withHeaders, whatToSpeak } from "./responses.ts";
import type { HeaderDocs, Responses } from "./responses.ts";
import type { Reads } from "./inputs.ts";
import type { Schema } from "./schemas/schema.ts";

/** The schemas every document has: what a refusal is on the wire. */
export const refusalSchemas: { readonly [name: string]: Schema } = {
  Problem: {
    description: "One input that is not what it should be.",
    type: "object",
    properties: {
      at: { type: "string", description: "Where: path.x, query.x, body.x." },
      code: { type: "string", description: "The code." },
      message: { type: "string", description: "A sentence." },
    },
    required: ["at", "code", "message"],
  },
  Refusal: {
    description: "A refusal: the code a client branches on, and a sentence for a person.",
    type: "object",
    properties: {
      error: { type: "string", description: "The code." },
      message: { type: "string", description: "A sentence." },
      problems: {
        type: "array",
        items: { $ref: "#/components/schemas/Problem" },
        description: "For invalid: each input that is not what it should be.",
      },
    },
    required: ["error", "message"],
  },
};

/** Each code a route may refuse with: its own, its inputs', and those the framework adds (contract 7.2). */
export function codesOf(route: Route, reads: Reads): readonly Code[] {
  const isSocket = route.returns.node.kind === "websocket";
  // Read or not, it is checked; one that declines has parsed where its route answers.
  const checksPath = route.path.segments.some((segment) => {
    return typeof segment !== "string" && !(segment.kind === "param" && segment.declines);
  });
  const added: Code[] = [];
  if (checksPath || reads.isAny || isSocket) added.push(codes.invalid);
  if (isSocket) added.push(codes.upgradeRequired);
  if (reads.body !== undefined) added.push(codes.unreadable, codes.tooLarge);
  if (isSocket || changesSomething(route.method)) added.push(codes.crossOrigin);
  added.push(codes.busy, codes.internal);
  const all = [...route.refuses, ...reads.codes, ...added];
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}

function changesSomething(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

/** One answer for each status, which says what every code of it means. */
export function refusalsOf(all: readonly Code[]): Responses {
  const responses: Responses = {};
  const schema = { $ref: "#/components/schemas/Refusal" };
  for (const status of [...new Set(all.map(({ status }) => status))].toSorted((a, b) => a - b)) {
    const ofStatus = all.filter((code) => code.status === status);
    const description = ofStatus.map(({ name, doc }) => `${name}: ${doc}`).join(" ");
    responses[status] = withHeaders({ description, content: { "application/json": { schema } } }, headersOf(ofStatus));
  }
  return responses;
}

/** What refusals of one status say in their headers. */
function headersOf(ofStatus: readonly Code[]): HeaderDocs {
  const challenges = ofStatus.flatMap(({ challenge }) => challenge ?? []);
  const names = new Set(ofStatus.map(({ name }) => name));
  return {
    ...(challenges.length === 0 ? {} : howToProve(challenges, challenges.length === ofStatus.length)),
    ...(names.has(codes.busy.name) || names.has(codes.rateLimited.name) ? comeAgain : {}),
    ...(names.has(codes.upgradeRequired.name) ? whatToSpeak(ofStatus.length === 1) : {}),
  };
}
