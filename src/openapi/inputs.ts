import type { Need } from "../inputs/asked.ts";
import type { AnyDep, BodyNeed, DepNode, FileNeed, Inputs, TextNeed } from "../inputs/dep.ts";
import type { Code } from "../refusals/code.ts";

/** A value read from the query, a header or a cookie. */
export type ReadNeed = TextNeed | Extract<Need, { readonly in: string }>;

/** A credential, with what its inputs read. */
export interface Credential {
  readonly scheme: string;
  readonly doc: string | undefined;
  readonly reads: readonly ReadNeed[];
}

/** What a route's inputs read, in the order it is read. */
export interface Reads {
  /** From the query, headers and cookies, what proves who asks left out. */
  readonly values: readonly ReadNeed[];
  readonly fields: readonly (TextNeed | FileNeed)[];
  readonly body: BodyNeed | undefined;
  readonly credentials: readonly Credential[];
  readonly codes: readonly Code[];
  /** What is read beside, in its author's words. */
  readonly alsoReads: readonly string[];
  /** Something is read that a description cannot name. */
  readonly isOpaque: boolean;
  /** Anything at all is read of the request, beside its path. */
  readonly isAny: boolean;
}

/** Walks a route's inputs, what each is made from before it. */
export function readsOf(inputs: Inputs): Reads {
  const deps = Object.values(inputs);
  const all = nodesOf(deps, false);
  const open = nodesOf(deps, true);
  const needs = all.flatMap(needsOf);
  const isOpaque = all.some(({ opaque }) => opaque === true);
  const body = all.find((node) => node.body !== undefined)?.body;
  return {
    values: open.flatMap(valuesOf),
    fields: needs.filter((need) => isField(need)),
    body,
    credentials: all.flatMap(credentialOf),
    codes: all.flatMap(({ codes = [] }) => codes),
    alsoReads: needs.flatMap((need) => ("custom" in need ? [need.custom] : [])),
    isOpaque,
    isAny: needs.length > 0 || body !== undefined || isOpaque,
  };
}

/** Every node once, by identity; `open` leaves out what only a credential reads. */
function nodesOf(deps: readonly AnyDep[], open: boolean): readonly DepNode[] {
  const nodes = new Set<DepNode>();
  const visit = ({ node }: AnyDep): void => {
    if (nodes.has(node) || (open && node.credential !== undefined)) return;
    node.from.forEach(visit);
    nodes.add(node);
  };
  deps.forEach(visit);
  return [...nodes];
}

type AnyNeed = TextNeed | FileNeed | Need;

function needsOf({ need, needs = [] }: DepNode): readonly AnyNeed[] {
  return need === undefined ? needs : [need, ...needs];
}

function valuesOf(node: DepNode): readonly ReadNeed[] {
  return needsOf(node).filter((need) => isValue(need));
}

function isValue(need: AnyNeed): need is ReadNeed {
  return "in" in need && (need.in === "query" || need.in === "header" || need.in === "cookie");
}

function isField(need: AnyNeed): need is TextNeed | FileNeed {
  return "in" in need && (need.in === "form" || need.in === "file");
}

function credentialOf(node: DepNode): readonly Credential[] {
  if (node.credential === undefined) return [];
  const { scheme, doc } = node.credential;
  return [{ scheme, doc, reads: nodesOf(node.from, false).flatMap(valuesOf) }];
}
