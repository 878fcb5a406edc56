/** Rounds of a host that may do other work for a while. */
import { median } from "./figures.mjs";

/** How far the rounds of a hand-written server may differ. */
export const maxSpread = 1.25;

/** How many rounds are played in place of others, at most. */
const mostMore = 4;

/** @param {readonly number[]} rounds */
export function spreadOf(rounds) {
  return Math.max(...rounds) / Math.min(...rounds);
}

/**
 * Plays a number of rounds. While those of the hand-written server differ too much, the one that is farthest from their median is
 * left out, and another one is played in its place: at most four, and no other server's figures decide.
 *
 * @template A
 * @param {number} count
 * @param {(round: number) => Promise<A>} play
 * @param {(round: A) => readonly number[]} byHand Its figure in each case.
 * @returns {Promise<{ rounds: A[], leftOut: number }>}
 */
export async function quietRounds(count, play, byHand) {
  const rounds = [];
  let played = 0;
  while (rounds.length < count) {
    rounds.push(await play(played++));
    if (rounds.length < count || played >= count + mostMore) continue;
    const noisy = noisiest(rounds.map(byHand));
    if (noisy !== undefined) rounds.splice(noisy, 1);
  }
  return { rounds, leftOut: played - count };
}

/** The round that is farthest from the median of its case; undefined where no case differs too much. @param {readonly (readonly number[])[]} rounds */
function noisiest(rounds) {
  let [worst, index] = [0, undefined];
  for (let i = 0; i < rounds[0].length; i++) {
    const figures = rounds.map((round) => round[i]);
    if (spreadOf(figures) <= maxSpread) continue;
    const middle = median(figures);
    figures.forEach((figure, round) => {
      const distance = Math.abs(Math.log(figure / middle));
      if (distance > worst) [worst, index] = [distance, round];
    });
  }
  return index;
}

/** Says how many rounds a section has. @param {{ rounds: readonly unknown[], leftOut: number }} played */
export function roundsText({ rounds, leftOut }) {
  if (leftOut === 0) return `rounds: ${rounds.length}`;
  return `rounds: ${rounds.length}, and ${leftOut} that are left out, as the server by hand differed by more than ${Math.round((maxSpread - 1) * 100)} %`;
}
