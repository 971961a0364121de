import { MutationObserver, onlineManager } from "@tanstack/react-query";
import { afterEach, expect, test } from "vitest";
import { makeQueryClient } from "./query-client";

afterEach(() => onlineManager.setOnline(true));

test("without a network a mutation fails immediately and is not sent later", async () => {
  onlineManager.setOnline(false);
  let tries = 0;
  const change = new MutationObserver(makeQueryClient(), {
    mutationFn: () => {
      tries += 1;
      return Promise.reject(new Error("no network"));
    },
  });
  await expect(change.mutate()).rejects.toThrow("no network");
  expect(change.getCurrentResult()).toMatchObject({ status: "error", isPaused: false });
  onlineManager.setOnline(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(tries).toBe(1);
});

test("without a network a query fails too, and queries are set to run again once the network is back", async () => {
  onlineManager.setOnline(false);
  const client = makeQueryClient();
  const asked = client.fetchQuery({
    queryKey: ["any"],
    queryFn: () => Promise.reject(new Error("no network")),
    retry: false,
  });
  await expect(asked).rejects.toThrow("no network");
  expect(client.defaultQueryOptions({ queryKey: ["any"] }).refetchOnReconnect).toBe(true);
});
