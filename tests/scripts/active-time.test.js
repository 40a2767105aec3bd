import assert from "node:assert/strict";
import { test } from "node:test";
import { ActiveTime } from "../../static/annotation/active-time.js";

const SECOND = 1000;

test("time counts from when a pair is shown to its label", () => {
  const time = new ActiveTime();
  time.start(10 * SECOND);
  time.settle(17 * SECOND);
  assert.equal(time.seconds, 7);
});

test("a pair shown at time 0 has its time counted, too", () => {
  const time = new ActiveTime();
  time.start(0);
  time.settle(3 * SECOND);
  assert.equal(time.seconds, 3);
});

test("a minute after the last sign of life time stops, and goes on with the next sign", () => {
  const time = new ActiveTime();
  time.start(0);
  time.sign(5 * SECOND, false);
  time.sign(600 * SECOND, false);
  time.settle(610 * SECOND);
  assert.equal(time.seconds, 5 + 60 + 10);
});

test("a label after an hour without a sign of life counts as a minute", () => {
  const time = new ActiveTime();
  time.start(0);
  time.settle(3600 * SECOND);
  assert.equal(time.seconds, 60);
});

test("hidden time does not count, whatever moves meanwhile", () => {
  const time = new ActiveTime();
  time.start(0);
  time.settle(4 * SECOND);
  time.sign(20 * SECOND, true);
  time.sign(30 * SECOND, false);
  time.settle(31 * SECOND);
  assert.equal(time.seconds, 5);
});

test("settling twice counts once, and another pair begins at nothing", () => {
  const time = new ActiveTime();
  time.start(0);
  time.settle(4 * SECOND);
  time.settle(9 * SECOND);
  assert.equal(time.seconds, 4);
  time.start(9 * SECOND);
  time.settle(10 * SECOND);
  assert.equal(time.seconds, 1);
});
