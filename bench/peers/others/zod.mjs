/** The schemas of the peers that take Zod's. */
import * as z from "zod";

const whole = z.coerce.number().int();
export const Params = z.object({ id: whole });
export const Text = z.object({ text: z.string() });
export const Search = z.object({ page: whole, limit: whole, sort: z.enum(["up", "down"]) });
export const Item = z.object({ title: z.string().min(1), count: z.number().int().min(1) });
export { z };
