/** The whole numbers of 32 bits, for errors. */
export const int32Range = "a whole number from -2147483648 to 2147483647";

export function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31;
}
