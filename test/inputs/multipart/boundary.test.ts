import { describe, expect, it } from "vitest";
import { boundaryOf } from "../../../src/inputs/multipart.ts";

const seventy = "b".repeat(70);

describe("the boundary of a Content-Type", () => {
  it.each([
    ["MP-23", "multipart/form-data; boundary=b", "b"],
    ["MP-23", "Multipart/FORM-Data;BOUNDARY=Bb", "Bb"],
    ["MP-23", 'multipart/form-data; charset="utf-8" ; boundary=b;', "b"],
    [
      "MP-23",
      "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
      "----WebKitFormBoundary7MA4YWxkTrZu0gW",
    ],
    ["MP-24", 'multipart/form-data; boundary="a b"', "a b"],
    ["MP-24", 'multipart/form-data; boundary=" b"', " b"],
    ["MP-24", 'multipart/form-data; boundary="\\b"', "b"],
    ["MP-21", 'multipart/form-data; boundary="----=_x\'()+_,-./:=?"', "----=_x'()+_,-./:=?"],
    ["MP-25", `multipart/form-data; boundary=${seventy}`, seventy],
    ["MP-25", `multipart/form-data; boundary=${seventy}b`, undefined],
    ["MP-25", 'multipart/form-data; boundary="b "', undefined],
    ["MP-25", 'multipart/form-data; boundary=" "', undefined],
    ["MP-25", 'multipart/form-data; boundary="a@b"', undefined],
    ["MP-25", 'multipart/form-data; boundary="a\tb"', undefined],
    ["MP-25", 'multipart/form-data; boundary="\xe9"', undefined],
    ["MP-25", 'multipart/form-data; boundary=""', undefined],
    ["MP-25", "multipart/form-data; boundary=", undefined],
    ["MP-25", "multipart/form-data; boundary", undefined],
    ["MP-25", "multipart/form-data; boundary=a; boundary=a", undefined],
    ["MP-25", "multipart/form-data; boundary=a b", undefined],
    ["MP-25", "multipart/form-data; boundary=a, text/plain", undefined],
    ["MP-25", "text/plain; boundary=b", undefined],
    ["MP-25", "multipart/mixed; boundary=b", undefined],
    ["MP-29", "multipart/form-data", undefined],
    ["MP-31", "", undefined],
  ])("%s: %s → %s", (_id, line, boundary) => {
    expect(boundaryOf(line)).toBe(boundary);
  });
});
