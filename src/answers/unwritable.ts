/** A bug of the application found while its answer is written: a 500 whose detail goes to the log, free of values. */
export class Unwritable extends Error {
  override readonly name: string = "Unwritable";
}
