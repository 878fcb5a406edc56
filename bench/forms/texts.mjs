const size = 1_048_576;
const again = (piece, before = "") => before + piece.repeat((size - before.length) / piece.length);

/** Forms of 1 MiB: a browser's, and the worst cases of some parser. */
export const texts = {
  "one field of a browser's": again("hello+world%21+", "q="),
  "fields of a browser's": again("field=hello+world%21&"),
  "plain text": again("x", "q="),
  "`&`": again("&"),
  "`a&`": again("a&"),
  "`%&`": again("%&"),
  "`+&`": again("+&"),
  "`%41&`": again("%41&"),
  "`%ff&`": again("%ff&"),
  "`%C3%A9&`": again("%C3%A9&"),
  "`l=%&`": again("l=%&"),
  "`l=1&`": again("l=1&"),
  "`q=` and `%`": again("%", "q="),
  "`q=` and `%4`": again("%4", "q="),
  "`q=` and `%41`": again("%41", "q="),
  "`q=` and `a%41`": again("a%41", "q="),
  "`q=` and `%%41`": again("%%41", "q="),
  "`q=` and `+`": again("+", "q="),
  "`q=` and `%F0%9F%98%80`": again("%F0%9F%98%80", "q="),
};
