import type { Deviations } from "./deviation.ts";

export const fetch: Deviations = {
  cases: [
    {
      why: "A Request shows the lines of a repeated header as one line.",
      cases: {
        "IN-16 a whole number on two lines": "This is not a whole number.",
        "IN-16 a text on two lines": "status 200, not 400",
      },
    },
  ],
};
