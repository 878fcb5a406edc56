import { printValue } from "./print-structured-value.ts";
import type {
  StructuredDictionary,
  StructuredInnerList,
  StructuredItem,
  StructuredList,
  StructuredMember,
  StructuredParameters,
  StructuredValue,
} from "./structured-types.ts";

/** RFC 9651 §4.1.3; undefined where something in it cannot be printed, as of all that is here. */
export function printItem([value, parameters]: StructuredItem): string | undefined {
  return joined("", [printValue(value), printParameters(parameters)]);
}

/** RFC 9651 §4.1.1. */
export function printList(list: StructuredList): string | undefined {
  return joined(", ", list.map(printMember));
}

/** RFC 9651 §4.1.2. */
export function printDictionary(dictionary: StructuredDictionary): string | undefined {
  return joined(", ", [...dictionary].map(printNamedMember));
}

function printNamedMember([key, member]: readonly [string, StructuredMember]): string | undefined {
  if (member[0] === true) return joined("", [printKey(key), printParameters(member[1])]);
  return joined("=", [printKey(key), printMember(member)]);
}

function printMember(member: StructuredMember): string | undefined {
  return isInnerList(member) ? printInnerList(member) : printItem(member);
}

function printInnerList([items, parameters]: StructuredInnerList): string | undefined {
  return joined("", ["(", joined(" ", items.map(printItem)), ")", printParameters(parameters)]);
}

function isInnerList(member: StructuredMember): member is StructuredInnerList {
  return Array.isArray(member[0]);
}

function printParameters(parameters: StructuredParameters): string | undefined {
  return joined("", [...parameters].map(printParameter));
}

function printParameter([key, value]: readonly [string, StructuredValue]): string | undefined {
  const start = joined("", [";", printKey(key)]);
  return value === true ? start : joined("=", [start, printValue(value)]);
}

function printKey(key: string): string | undefined {
  return /^[a-z*][a-z0-9_\-.*]*$/.test(key) ? key : undefined;
}

function joined(separator: string, parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join(separator);
}
