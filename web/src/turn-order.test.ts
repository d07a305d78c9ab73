import { expect, it } from "vitest";
import type { SessionEvent } from "./event.ts";
import { createTurnOrder, type TurnState } from "./turn-order.ts";

function start(before: TurnState = "idle") {
  const released: string[] = [];
  return { released, order: createTurnOrder((id) => released.push(id), before) };
}

const running: SessionEvent = { id: "", seq: 0, turnId: "", kind: "running" };
const idle = (reason: string): SessionEvent => ({ ...running, kind: "idle", reason });

it("lets the first message through and keeps those that come before its turn began", () => {
  const { order, released } = start();
  expect(order.message("a")).toBe(false);
  expect(order.message("b")).toBe(true);
  order.take(running);
  order.turn("a");
  expect(order.message("c")).toBe(true);
  expect(released).toEqual([]);
});

it("releases a waiting message with the first event of its turn, and what was sent before it", () => {
  const { order, released } = start();
  for (const id of ["a", "b", "c", "d"]) order.message(id);
  order.take(running);
  order.turn("b");
  order.turn("b");
  expect(released).toEqual(["b"]);
  order.turn("d");
  expect(released).toEqual(["b", "c", "d"]);
  order.take(idle("end_turn"));
  expect(order.message("e")).toBe(false);
});

it("keeps what waits while a turn is blocked or goes on", () => {
  const { order, released } = start();
  order.message("a");
  order.take(running);
  order.message("b");
  order.take(idle("requires_action"));
  order.take(running);
  order.turn("a");
  expect(released).toEqual([]);
  expect(order.waiting()).toEqual(["b"]);
});

it("knows of earlier messages which have had their turn since, and which still wait", () => {
  const { order } = start("running");
  order.message("e");
  order.turn("b");
  const earlier = start("running");
  for (const id of ["a", "b", "c"]) earlier.order.message(id);
  order.follow(earlier.order);
  expect(earlier.released).toEqual(["a", "b"]);
  expect(order.waiting()).toEqual(["c", "e"]);
  const first = start();
  first.order.message("x");
  first.order.message("y");
  first.order.turn("x");
  order.follow(first.order);
  expect(first.released).toEqual([]);
  expect(order.waiting()).toEqual(["y", "c", "e"]);
  order.turn("c");
  expect(order.waiting()).toEqual(["e"]);
});
