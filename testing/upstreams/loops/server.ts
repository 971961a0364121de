import { listen } from "@/testing/listener";
import { play } from "../server";
import { answerOf, assistants, type Double, invalid, type Request, refuseUnanswered } from "./double";

/* The doubles as one server, with a path for each. */

export type Doubles = {
  url: string;
  /** The base URL for clients of this server: `url`, the double's name, and `v1`. */
  urlOf(double: Double): string;
  /** Requests that arrived, oldest first. */
  received(double: Double): Request[];
  stop(): Promise<void>;
};

export async function startDoubles(doubles: readonly Double[]): Promise<Doubles> {
  const arrived = new Map<string, Request[]>();
  const { port, stop } = await listen((request, body, response) => {
    const [, name] = (request.url ?? "").split("/");
    const double = doubles.find((each) => each.name === name);
    if (!double) return play({ status: 404, body: { error: { message: "No such server." } } }, response);
    if (request.method === "GET")
      return play({ body: { object: "list", data: [{ id: double.model }] } }, response);
    const sent: Request = JSON.parse(body);
    arrived.set(double.name, [...(arrived.get(double.name) ?? []), sent]);
    return play(answerTo(double, sent), response);
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    urlOf: ({ name }) => `${url}/${name}/v1`,
    received: ({ name }) => arrived.get(name) ?? [],
    stop,
  };
}

/** Chooses the next answer by the number of assistant messages in the history. */
function answerTo(double: Double, request: Request) {
  if (request.model !== double.model) return invalid(`The model ${request.model} does not exist`, 404);
  const place = assistants(request).length;
  const refused = refuseUnanswered(request) ?? double.refuse(request, double.answers.slice(0, place));
  if (refused) return refused;
  const spoken = double.answers[place];
  return spoken ? answerOf(double, spoken, request.stream === true) : invalid("The conversation is over");
}
