/** The validators: each reads an order from bytes to a value or its problems, and writes it as text. */
import * as v from "valibot";
import { importSource } from "../harness/source.mjs";
import { Order } from "./order.mjs";

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {() => Promise<{ read: (bytes: Buffer) => boolean, check: (value: unknown) => boolean, write: (value: any) => string }>} make
 * `read` and `check` return whether it was valid.
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  json: {
    name: "`JSON` alone",
    make: async () => ({
      read: (bytes) => JSON.parse(bytes.toString()) !== undefined,
      check: () => true,
      write: (value) => JSON.stringify(value),
    }),
  },
  usher: {
    name: "usher",
    async make() {
      const { compileReader } = await importSource("src/schema/read.ts");
      const { compileWriter } = await importSource("src/schema/write.ts");
      const reader = compileReader(Order);
      const { write } = compileWriter(Order);
      return {
        read: (bytes) => reader.read(bytes).ok,
        check: (value) => reader.readValue(value, "body").ok,
        write: (value) => write(value).value,
      };
    },
  },
  valibot: {
    name: "Valibot and `JSON`",
    make: async () => ({
      read: (bytes) => v.safeParse(Order, JSON.parse(bytes.toString())).success,
      check: (value) => v.safeParse(Order, value).success,
      write: (value) => JSON.stringify(v.parse(Order, value)),
    }),
  },
};
