import { expect, it } from "vitest";
import { createTurnOrder } from "./turn-order.ts";

function start() {
  const released: string[] = [];
  return { released, order: createTurnOrder((id) => released.push(id)) };
}

it("lets the first message through and keeps those that come before its turn began", () => {
  const { order, released } = start();
  expect(order.message("a")).toBe(false);
  expect(order.message("b")).toBe(true);
  order.running();
  order.turn("a");
  expect(order.message("c")).toBe(true);
  expect(released).toEqual([]);
});

it("releases a waiting message with the first event of its turn, and what was sent before it", () => {
  const { order, released } = start();
  for (const id of ["a", "b", "c", "d"]) order.message(id);
  order.running();
  order.turn("b");
  order.turn("b");
  expect(released).toEqual(["b"]);
  order.turn("d");
  expect(released).toEqual(["b", "c", "d"]);
  order.idle("end_turn");
  expect(order.message("e")).toBe(false);
});

it("keeps what waits while a turn is blocked or goes on", () => {
  const { order, released } = start();
  order.message("a");
  order.running();
  order.message("b");
  order.idle("requires_action");
  order.running();
  order.turn("a");
  expect(released).toEqual([]);
  expect(order.waiting()).toBe(1);
});
