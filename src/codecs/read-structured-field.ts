import type { FieldScanner } from "./field-scanner.ts";
import { readValue } from "./read-structured-value.ts";
import type {
  StructuredDictionary,
  StructuredInnerList,
  StructuredItem,
  StructuredList,
  StructuredMember,
  StructuredParameters,
  StructuredValue,
} from "./structured-types.ts";

const spaces = / */y;
const key = /[a-z*][a-z0-9_\-.*]*/y;

/** RFC 9651 §4.2.3. */
export function readItem(field: FieldScanner): StructuredItem | undefined {
  const value = readValue(field);
  return value === undefined ? undefined : withParameters(field, value);
}

/** RFC 9651 §4.2.1. */
export function readList(field: FieldScanner): StructuredList | undefined {
  const list: StructuredMember[] = [];
  const whole = readMembers(field, () => {
    const member = readMember(field);
    if (member === undefined) return false;
    list.push(member);
    return true;
  });
  return whole ? list : undefined;
}

/** RFC 9651 §4.2.2. */
export function readDictionary(field: FieldScanner): StructuredDictionary | undefined {
  const dictionary = new Map<string, StructuredMember>();
  const whole = readMembers(field, () => {
    const name = field.match(key);
    if (name === undefined) return false;
    const member = field.take("=") ? readMember(field) : withParameters<StructuredValue>(field, true);
    if (member === undefined) return false;
    dictionary.set(name, member);
    return true;
  });
  return whole ? dictionary : undefined;
}

/** Reads members with commas between them, and none after the last; false where one is malformed. */
function readMembers(field: FieldScanner, readOne: () => boolean): boolean {
  if (field.done) return true;
  for (;;) {
    if (!readOne()) return false;
    field.skipBlanks();
    if (field.done) return true;
    if (!field.take(",")) return false;
    field.skipBlanks();
  }
}

function readMember(field: FieldScanner): StructuredMember | undefined {
  return field.take("(") ? readInnerList(field) : readItem(field);
}

// The parenthesis has been read.
function readInnerList(field: FieldScanner): StructuredInnerList | undefined {
  const items: StructuredItem[] = [];
  for (;;) {
    field.match(spaces);
    if (field.take(")")) return withParameters(field, items);
    const item = readItem(field);
    if (item === undefined || (field.next !== " " && field.next !== ")")) return undefined;
    items.push(item);
  }
}

function withParameters<A>(field: FieldScanner, value: A): readonly [A, StructuredParameters] | undefined {
  const parameters = new Map<string, StructuredValue>();
  while (field.take(";")) {
    field.match(spaces);
    const name = field.match(key);
    const its = name !== undefined && field.take("=") ? readValue(field) : true;
    if (name === undefined || its === undefined) return undefined;
    parameters.set(name, its);
  }
  return [value, parameters];
}
