import { stripped } from "../codecs/white-space.ts";

/** OpenTelemetry's context, as its interface says and no more: whoever traces has the package, and nobody else needs it. */
export class OtelContext {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown> = new Map()) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): OtelContext {
    return new OtelContext(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): OtelContext {
    const values = new Map(this.#values);
    values.delete(key);
    return new OtelContext(values);
  }
}

/** A `tracestate` as it came. */
export class PassedState {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get(key: string): string | undefined {
    const members = this.#text.split(",").map((member) => stripped(member));
    return members.find((member) => member.startsWith(`${key}=`))?.slice(key.length + 1);
  }

  set(key: string, value: string): PassedState {
    const others = this.unset(key).serialize();
    return new PassedState(others === "" ? `${key}=${value}` : `${key}=${value},${others}`);
  }

  unset(key: string): PassedState {
    const members = this.#text.split(",").map((member) => stripped(member));
    return new PassedState(members.filter((member) => !member.startsWith(`${key}=`)).join(","));
  }

  serialize(): string {
    return this.#text;
  }
}
