/** The style `deepObject` of `wire.ts`: an object whose members are texts, `?filter[status]=open&filter[min]=3`. */
import type { AnyCodec } from "../codecs/codec.ts";
import { Problem } from "../refusals.ts";
import { error } from "../result.ts";
import { ownNames } from "../schema/own-names.ts";
import { compileRead, compileReader } from "../schema/read.ts";
import { JsonReading } from "../schema/reading.ts";
import type { Members } from "../schema/reading.ts";
import { isCompiled } from "../schema/standard.ts";
import type { AnyStandard } from "../schema/standard.ts";
import { kindOf } from "../schema/valibot.ts";
import type { Kind, ObjectKind, Shape } from "../schema/valibot.ts";
import { notText } from "./text.ts";
import type { FieldNames, FieldValues, GivenText, WrongText } from "./text.ts";
import { codecFor } from "./text-schema.ts";
import type { ScalarJson } from "./text-schema.ts";
import { memberField } from "./wire-write.ts";
import { BoundedProblems } from "./wire-list.ts";

/** A schema of an object of texts; the error for any other has the sentence. */
export type TextObjectSchema<A, Json> = Shape<A, Json> & HasTexts<Json>;
type HasTexts<Json> = [Json] extends [
  { readonly [member: string]: ScalarJson | readonly ScalarJson[] | null | undefined },
]
  ? unknown
  : "Each member is a string, a number, a boolean, or a list of these.";

/** Describes a part of the input's schema as JSON Schema. */
export type DescribePart = (part: AnyStandard) => object;

/** An object of texts, compiled. */
interface TextObject {
  /** For the checks and the API document. It reads the object as JSON, as the document's examples are. */
  readonly codec: AnyCodec;
  /** Whether a member must be sent. */
  readonly required: boolean;
  /** Adds the names of the members to those that a route reads. `empty` is the route's `Meta.emptyQuery`. */
  readonly compile: (names: FieldNames, empty: "absent" | undefined) => ReadObject;
}

/** Reads the object from the values of those names. Undefined values are those of a request without a query. */
type ReadObject = (given: FieldValues | undefined, maxProblems: number) => unknown;

interface TextMember {
  readonly name: string;
  /** Its place: `query.filter.min`. */
  readonly at: string;
  readonly codec: AnyCodec;
  readonly isList: boolean;
}

/**
 * Compiles an object of texts. Each text becomes the JSON value of its member, and the schema then reads the object as it reads a
 * body: a missing member is `required`; an unknown one is passed over, or is `unknown_member` where the schema is a `v.strictObject`.
 */
export function textObject(shape: Shape, name: string, at: string): TextObject {
  const kind = objectKindOf(shape);
  const members = Object.entries(kind?.entries ?? {}).map(([member, entry]) => memberOf(member, entry, at));
  const wrong = members.find(({ codec }) => codec.schema?.problem !== undefined);
  const problem =
    kind === undefined
      ? "as an object of a schema that is no v.object and no v.strictObject"
      : wrong && `with its member ${wrong.name} ${wrong.codec.schema?.problem}`;
  const compile = (names: FieldNames, empty: "absent" | undefined): ReadObject =>
    // `App.make` throws for it.
    kind === undefined || problem !== undefined
      ? () => undefined
      : compileObject(kind, members, { names, name, at, empty });
  return {
    codec: {
      parse: (text) => {
        const read = compileReader(shape).readText(text, at);
        return read.ok ? read : error(read.error[0]?.message ?? "");
      },
      print: JSON.stringify,
      schema: { problem, shape, jsonOf: (text) => text, takesAnyText: false, keepsValue: false },
    },
    required: Object.values(kind?.entries ?? {}).some((entry) => mustBeSent(entry)),
    compile,
  };
}

/** The JSON Schema of the object. Its members are described as they are sent: never as null, which is an absent member in JSON. */
export function objectSchema(shape: AnyStandard, describe: DescribePart): object {
  const kind = objectKindOf(shape);
  const entries = Object.entries(kind?.entries ?? {});
  const required = entries.filter(([, entry]) => mustBeSent(entry)).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([name, entry]) => {
        const value: unknown = "default" in entry && typeof entry.default !== "function" ? entry.default : undefined;
        return [name, { ...describe(unwrapped(entry) as never), ...(value === undefined ? {} : { default: value }) }];
      }),
    ),
    ...(required.length === 0 ? {} : { required }),
    ...(kind?.type === "strict_object" ? { additionalProperties: false } : {}),
  };
}

function objectKindOf(shape: AnyStandard): ObjectKind | undefined {
  if (typeof shape !== "object" || shape === null || !("~standard" in shape) || !isCompiled(shape)) return undefined;
  const kind = kindOf(shape);
  return kind.type === "object" || kind.type === "strict_object" ? kind : undefined;
}

function memberOf(name: string, entry: Kind, object: string): TextMember {
  const at = `${object}.${name}`;
  const inner = unwrapped(entry);
  const isList = inner.type === "array";
  return { name, at, codec: codecFor(isList ? inner.item : inner, at), isList };
}

/** The schema of a member that is sent. */
function unwrapped(kind: Kind): Kind {
  const mayBeAbsent = kind.type === "optional" || kind.type === "exact_optional" || kind.type === "nullish";
  return mayBeAbsent ? unwrapped(kind.wrapped) : kind;
}

function mustBeSent(entry: Kind): boolean {
  return unwrapped(entry) === entry && entry.fallback === undefined;
}

interface ObjectPlace {
  readonly names: FieldNames;
  readonly name: string;
  readonly at: string;
  readonly empty: "absent" | undefined;
}

function compileObject(
  kind: ObjectKind,
  members: readonly TextMember[],
  { names, name, at, empty }: ObjectPlace,
): ReadObject {
  const whole = names.add(name, false);
  const others = names.addOthers(name);
  const indexes = members.map((member) => names.add(memberField(name, member.name), member.isList));
  const isClosed = kind.type === "strict_object";
  const isDeclared = (member: string): boolean => Object.hasOwn(kind.entries, member);
  const reader = compileRead(kind);
  const own = ownNames(kind);
  return (given, maxProblems) => {
    const texts = new MemberTexts(new BoundedProblems(maxProblems), empty);
    let value: unknown = {};
    if (given !== undefined) {
      const object = withOthers(memberNamesIn(given.all(others), name), (other) => isClosed || isDeclared(other));
      for (const [place, member] of members.entries()) {
        const json = texts.read(member, given, indexes[place] as number);
        if (json !== undefined) object[member.name] ??= json;
      }
      const text = given.first(whole);
      value = text === undefined || (text === "" && empty === "absent") ? object : text;
    }
    const reading = new JsonReading(at, maxProblems, own);
    const read = reader.read(value, reading);
    return reading.count === 0 && !texts.hasProblems ? read : texts.outcome(reading);
  };
}

/**
 * Stands for a text that is no JSON value of its member, and for a member with members. The schema of any text refuses an object, so
 * that no check of the whole object runs.
 */
const noValue: object = {};

/** The members of sent names that no member has: `a` of `filter[a]` and of `filter[a][b]`. A name as `filter[a` is another field's. */
function memberNamesIn(sent: readonly GivenText[], name: string): readonly string[] {
  return sent.flatMap((text) => /^([^\]]*)\](?:\[.*)?$/s.exec(text?.slice(name.length + 1) ?? "")?.[1] ?? []);
}

/** An object with those names that its schema must see: it refuses each of them. */
function withOthers(names: readonly string[], isSeen: (name: string) => boolean): Members {
  const seen = names.filter(isSeen);
  if (seen.length === 0) return {};
  // Without a prototype, as a client may send the name `__proto__`.
  const object: Members = Object.create(null) as Members;
  for (const name of seen) object[name] = noValue;
  return object;
}

/** The texts of an object's members as JSON values, and the problems of the other texts. */
class MemberTexts {
  readonly #problems: BoundedProblems;
  readonly #empty: "absent" | undefined;
  /** The places of `noValue`, where the schema's own problem is left out. */
  readonly #refused = new Set<string>();

  constructor(problems: BoundedProblems, empty: "absent" | undefined) {
    this.#problems = problems;
    this.#empty = empty;
  }

  get hasProblems(): boolean {
    return this.#refused.size > 0;
  }

  /** The JSON value of a member; undefined where it was not sent. */
  read(member: TextMember, given: FieldValues, index: number): unknown {
    if (!member.isList) {
      const text = given.first(index);
      return text === undefined || this.#isAbsent(text, member) ? undefined : this.#json(member, text, member.at);
    }
    const texts = given.all(index).filter((text) => !this.#isAbsent(text, member));
    return texts.length === 0 ? undefined : texts.map((text, at) => this.#json(member, text, `${member.at}[${at}]`));
  }

  #isAbsent(text: GivenText, { codec }: TextMember): boolean {
    return text === "" && this.#empty === "absent" && !codec.parse("").ok;
  }

  #json({ codec, at }: TextMember, text: GivenText, place: string): unknown {
    const json = text === null ? undefined : codec.schema?.jsonOf(text);
    if (json !== undefined) return json;
    const problems = text === null ? [notText(codec, at)] : (codec.parse(text) as WrongText).problems;
    this.#refused.add(place);
    for (const { code, message } of problems) this.#problems.list(new Problem(place, code, message));
    return noValue;
  }

  outcome({ problems, more }: JsonReading): unknown {
    const others = problems.filter(({ at }) => !this.#refused.has(at));
    for (const problem of others) this.#problems.list(problem);
    // Of those that are not listed, the others are of `noValue`.
    const repeated = this.#refused.size - (problems.length - others.length);
    this.#problems.count(Math.max(0, more - repeated));
    return this.#problems.outcome();
  }
}
