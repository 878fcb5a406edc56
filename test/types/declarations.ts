/** Mistakes of a declaration that the compiler finds before `App.make` does. */
import * as v from "valibot";
import { Path, Returns, route } from "usher-http";

const at = Path.of("a");
const text = { returns: Returns.text } as const;
const shape = v.string();

// @ts-expect-error a method in lower case, which no client sends
export const lower = route("get", at, text, () => "");
// @ts-expect-error a method with a space
export const spaced = route("GE T", at, text, () => "");
// @ts-expect-error a HEAD
export const head = route("HEAD", at, text, () => "");
export const own = route("PURGE", at, text, () => "");
export const unknownMethod = (method: string) => route(method, at, text, () => "");

// @ts-expect-error a failure is a refusal
export const failed = Returns.json(shape, { status: 404 });
// @ts-expect-error HTTP sends no body under 204
export const bare = Returns.json(shape, { status: 204 });
export const created: Returns<string, string, 201> = Returns.json(shape, { status: 201 });
export const any = (status: number) => Returns.json(shape, { status });

// @ts-expect-error a failure is a refusal
export const listed = Returns.jsonResponse(shape, { 200: "Read.", 404: "Gone." });
// @ts-expect-error a failure is a refusal
export const empty = Returns.emptyResponse({ 404: "Gone." });
// @ts-expect-error no status
export const none = Returns.jsonResponse(shape, {});
export const both = Returns.jsonResponse(shape, { 200: "Read.", 201: "Made." });
export const chosen = Returns.emptyResponse({ 201: "Made.", 204: "Kept." });
export const computed = (statuses: { readonly [status: number]: string }) => Returns.emptyResponse(statuses);
