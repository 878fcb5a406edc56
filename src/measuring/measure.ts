import type { Attributes, MeterProvider } from "@opentelemetry/api";
import { registered } from "../tracing/registry.ts";
import type { Registered } from "../tracing/registry.ts";
import { Instruments } from "./instruments.ts";

type Kind = "served" | "called";
interface Measured {
  readonly kind: Kind;
  readonly seconds: number;
  readonly attributes: Attributes;
}

let provider: MeterProvider | undefined;
let theirs: Instruments | undefined;
/** The instruments of `Metrics.routes`, or what was measured until they were there. */
let own: Instruments | Measured[] | undefined;

const mostKept = 10_000;

/** Whether anybody measures: a provider that the application registered, or `Metrics.routes`. */
export function isMeasured(otel: Registered | undefined): boolean {
  return own !== undefined || otel?.metrics !== undefined;
}

/** Has everything measured from now on, for instruments that come later. */
export function expectInstruments(): void {
  own ??= [];
}

/** The instruments that were expected. */
export function bringInstruments(brought: Instruments): void {
  const kept = Array.isArray(own) ? own : [];
  own = brought;
  for (const { kind, seconds, attributes } of kept) brought[kind](seconds, attributes);
}

/** They will not come. */
export function giveUpInstruments(): void {
  if (Array.isArray(own)) own = undefined;
}

/** Takes down how long a request took that was answered, or one that was made. */
export function measure(kind: Kind, seconds: number, attributes: Attributes): void {
  instruments()?.[kind](seconds, attributes);
  if (own === undefined) return;
  if (!Array.isArray(own)) own[kind](seconds, attributes);
  else if (own.length < mostKept) own.push({ kind, seconds, attributes });
}

function instruments(): Instruments | undefined {
  const metrics = registered()?.metrics;
  if (metrics !== provider) {
    provider = metrics;
    theirs = metrics === undefined ? undefined : new Instruments(metrics);
  }
  return theirs;
}
