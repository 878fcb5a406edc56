/**
 * The check of arguments, which only JavaScript can get wrong: the error names the function, and not a member of `undefined` inside of
 * it.
 */

/** Throws unless an argument is what its function takes: `Rate.make: options is null, and not an object`. */
export function needs(holds: boolean, at: string, value: unknown, what: string): void {
  if (!holds) throw new TypeError(`${at} is ${kindOf(value)}, and not ${what}`);
}

export function needsObject(at: string, value: unknown): void {
  needs(isRecord(value), at, value, "an object");
}

/**
 * Throws unless options are an object with members of these names alone, which are listed with spaces between them. A misspelt one would
 * be a limit that is not kept.
 */
export function needsOptions(maker: string, options: unknown, names: string): void {
  if (!isRecord(options)) return needsObject(`${maker}: options`, options);
  const known = knownOptions(names);
  // Events and answers have options: nothing is made for those that are right.
  for (const name in options) if (!known.has(name)) return needsKnown(maker, options, names);
}

function needsKnown(maker: string, options: object, names: string): void {
  for (const problem of unknownOptions(options, names)) throw new TypeError(`${maker}: ${problem}`);
}

/** What is wrong with the names of options; none of an option that is undefined. */
export function unknownOptions(options: object, names: string): readonly string[] {
  const known = knownOptions(names);
  return Object.entries(options).flatMap(([name, value]) =>
    value === undefined || known.has(name) ? [] : [unknownOption(name, [...known])],
  );
}

/** By the text of a call: events and answers have options too, and their names are not split for each. */
const split = /* @__PURE__ */ new Map<string, ReadonlySet<string>>();

function knownOptions(names: string): ReadonlySet<string> {
  let known = split.get(names);
  if (known === undefined) split.set(names, (known = new Set(names.split(" "))));
  return known;
}

function unknownOption(name: string, known: readonly string[]): string {
  const nearest = known.find(
    (one) =>
      isNear(name.toLowerCase(), one.toLowerCase(), one.length > 3 ? 2 : 0) || (one.length > 3 && name.startsWith(one)),
  );
  return `${name} is none of its options: ${nearest === undefined ? known.join(", ") : `write ${nearest}`}`;
}

/** Whether a text becomes another one by at most `changes` characters that are added, removed or replaced. */
function isNear(text: string, other: string, changes: number): boolean {
  if (text === other) return true;
  const [rest, otherRest] = [text.slice(1), other.slice(1)];
  if (text[0] === other[0]) return isNear(rest, otherRest, changes);
  const near = (a: string, b: string): boolean => isNear(a, b, changes - 1);
  return changes > 0 && (near(rest, other) || near(text, otherRest) || near(rest, otherRest));
}

/** Whether a value can be options or inputs by name. A promise of them, from a call without `await`, has no members. */
export function isRecord(value: unknown): value is { readonly [member: string]: unknown } {
  return isObject(value) && !Array.isArray(value) && !(value instanceof Promise);
}

export function needsText(at: string, value: unknown): void {
  needs(typeof value === "string", at, value, "a text");
}

export function needsFunction(at: string, value: unknown): void {
  needs(typeof value === "function", at, value, "a function");
}

export function needsCount(at: string, value: unknown): void {
  needs(Number.isSafeInteger(value) && (value as number) >= 1, at, value, "a whole number, 1 or more");
}

export function needsTexts(at: string, value: unknown): void {
  needs(isTexts(value), at, value, "a list of texts");
}

export function isTexts(value: unknown): value is readonly string[] {
  return isListOf(value, (text) => typeof text === "string");
}

/** Whether a value is a list whose members all pass the test. `every` alone would skip a hole, which is `undefined`. */
export function isListOf(value: unknown, holds: (member: unknown) => boolean): value is readonly unknown[] {
  return Array.isArray(value) && Array.from(value).every((member) => holds(member));
}

/** Where a problem of an input is, as `query.page`. A name that is no text is an error once a route has the input. */
export function placeOf(where: string, name: unknown): string {
  return `${where}.${typeof name === "string" ? name : kindOf(name)}`;
}

export function needsSchema(at: string, value: unknown): void {
  needs(isSchema(value), at, value, "a schema");
}

/** Whether a value can be a schema of any library; a function may be one. */
export function isSchema(value: unknown): boolean {
  return (isObject(value) || typeof value === "function") && "~standard" in value;
}

export function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === "object" && value !== null;
}

/** Throws where a value is no app. */
export function needsApp(at: string, app: unknown): void {
  needs(isObject(app) && typeof app["answer"] === "function", at, app, "made by App.make");
}

/** Throws where a value is no path. */
export function needsPath(at: string, path: unknown): void {
  needs(isObject(path) && Array.isArray(path["segments"]), at, path, "made by Path.of");
}

/** Whether a value can be metadata; a list has a `find` too. */
export function isMeta(value: unknown): boolean {
  return isObject(value) && typeof value["add"] === "function" && typeof value["find"] === "function";
}

export function isRoutes(value: unknown): boolean {
  return isListOf(value, (route) => isObject(route) && isObject(route["meta"]));
}

/** Whether a value can be a segment of a path. */
export function isSegment(segment: unknown): boolean {
  if (typeof segment === "string") return true;
  return isObject(segment) && typeof segment["name"] === "string" && "kind" in segment && isObject(segment["reader"]);
}

/** Whether a value can be a kind of event. */
export function isKind(value: unknown): boolean {
  return isObject(value) && isObject(value["payload"]);
}

/** The type of a value, for a message that does not quote it. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object") return `a ${typeof value}`;
  if (Array.isArray(value)) return "a list";
  return value instanceof Promise ? "a promise" : "another object";
}

/** A number or a text as it is, and the type of any other value: for the error of an option. */
export function shown(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? JSON.stringify(value) : kindOf(value);
}
