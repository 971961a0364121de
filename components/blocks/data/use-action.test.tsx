import { QueryClient, QueryClientProvider, type UseMutationResult } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { type ActionOptions, useAction, useActionPerInput } from "./use-action";

type Hook = UseMutationResult<string, Error, string>;
type Use = typeof useAction<string, Error, string>;
type Asked = { input: string; end: (error?: Error) => void };

/** Renders the hook in a component; returns the hook's value and the requests that it sent. */
function drawn(use: Use, options: ActionOptions<string, string> = {}, client = new QueryClient()) {
  const asked: Asked[] = [];
  const drawnAs: { hook?: Hook } = {};
  const ask = (input: string) =>
    new Promise<string>((resolve, reject) => {
      asked.push({ input, end: (error) => (error ? reject(error) : resolve(input)) });
    });
  renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Form use={use} ask={ask} drawnAs={drawnAs} options={options} />
    </QueryClientProvider>,
  );
  if (!drawnAs.hook) throw new Error("nothing was rendered");
  return { hook: drawnAs.hook, asked, inputs: () => asked.map(({ input }) => input) };
}

function Form({
  use,
  ask,
  drawnAs,
  options,
}: {
  use: Use;
  options: ActionOptions<string, string>;
  ask: (input: string) => Promise<string>;
  drawnAs: { hook?: Hook };
}) {
  drawnAs.hook = use({ mutationFn: ask }, options);
  return null;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("two clicks in a row send one mutation, even with different input", async () => {
  const { hook, inputs } = drawn(useAction);
  hook.mutate("key");
  hook.mutate("key");
  hook.mutate("another");
  await turn();
  expect(inputs()).toEqual(["key"]);
});

test("the second call's promise resolves with the first", async () => {
  const { hook, asked, inputs } = drawn(useAction);
  const both = [hook.mutateAsync("key"), hook.mutateAsync("another")];
  await turn();
  asked[0]?.end();
  expect(await Promise.all(both)).toEqual(["key", "key"]);
  expect(inputs()).toEqual(["key"]);
});

test("an action can run again after it succeeds or fails", async () => {
  const { hook, asked, inputs } = drawn(useAction);
  hook.mutate("one");
  await turn();
  asked[0]?.end();
  await turn();
  hook.mutate("two");
  await turn();
  asked[1]?.end(new Error("refused"));
  await turn();
  hook.mutate("three");
  await turn();
  expect(inputs()).toEqual(["one", "two", "three"]);
});

test("a mutation abandoned by reset does not block the next, even when it ends later", async () => {
  const { hook, asked, inputs } = drawn(useAction);
  hook.mutate("old");
  hook.reset();
  hook.mutate("new");
  await turn();
  asked[0]?.end();
  await turn();
  hook.mutate("new");
  await turn();
  expect(inputs()).toEqual(["old", "new"]);
});

test("mutations of different rows run in parallel, each once", async () => {
  const { hook, inputs } = drawn(useActionPerInput);
  hook.mutate("first");
  hook.mutate("second");
  hook.mutate("first");
  await turn();
  expect(inputs()).toEqual(["first", "second"]);
});

test("the data that an action may have changed becomes stale after success and refusal, and only success calls its handler", async () => {
  const client = new QueryClient();
  const seen: string[] = [];
  client.setQueryData(["rows"], []);
  const isStale = () => client.getQueryState(["rows"])?.isInvalidated;
  const onDone = (output: string) => seen.push(output);
  const { hook, asked } = drawn(useAction, { refresh: [["rows"]], onDone }, client);
  hook.mutate("one");
  await turn();
  asked[0]?.end(new Error("refused"));
  await turn();
  expect([isStale(), seen]).toEqual([true, []]);
  client.setQueryData(["rows"], []);
  hook.mutate("two");
  await turn();
  asked[1]?.end();
  await turn();
  expect([isStale(), seen]).toEqual([true, ["two"]]);
});
