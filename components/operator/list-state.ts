import { idOf, listState, oneOfOr } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";
import type { QueueCounts } from "@/server/contract/dossiers";
import { ownKeys } from "@/server/contract/own-keys";
import type { RequestStatus } from "@/server/contract/requests";

/** The views of the queue. Views of waiting requests show the oldest first. */
export const REQUEST_QUEUE_VIEWS = {
  waiting: {
    label: "Waiting for review",
    only: { status: "submitted" },
    count: "submitted",
    order: "oldest",
  },
  review: { label: "In review", only: { status: "in_review" }, count: "in_review", order: "oldest" },
  quoted: { label: "Quoted", only: { status: "quoted" }, count: "quoted", order: "newest" },
  paid: { label: "To deliver", only: { status: "paid" }, count: "paid", order: "oldest" },
  refunds: { label: "Refund failed", only: { refund: "failed" }, count: "refundFailed", order: "oldest" },
  all: { label: "All", only: {}, count: undefined, order: "newest" },
} as const satisfies Record<
  string,
  {
    label: string;
    only: { status?: RequestStatus; refund?: "failed" };
    count: keyof QueueCounts | undefined;
    order: "oldest" | "newest";
  }
>;
export type RequestQueueView = keyof typeof REQUEST_QUEUE_VIEWS;
export const VIEW_NAMES = ownKeys(REQUEST_QUEUE_VIEWS);

const PAGE_SIZE = 25;

/** The queue's view and position as its URL has them. An unknown value counts as absent. */
export const { read: readQueueState } = listState({ show: oneOfOr("waiting", VIEW_NAMES) }, idOf("cr"));
export type QueueState = ReturnType<typeof readQueueState>;

/** The operator router's query for a state. */
export function toQueueQuery({ show, cursor }: QueueState) {
  const { only, order } = REQUEST_QUEUE_VIEWS[show];
  return { ...only, order, cursor, limit: PAGE_SIZE };
}

/** The URL of a state; the first page of the first view is the bare path. */
export const queueHref = ({ show, ...place }: QueueState): string =>
  hrefOf("/operator/requests", { show: show === "waiting" ? undefined : show, ...place });
export const operatorRequestHref = (requestId: string) => `/operator/requests/${requestId}`;

/** The position in the list of organizations and their plans. */
export const { read: readPlansPlace } = listState({}, idOf("org"));
export type PlansPlace = ReturnType<typeof readPlansPlace>;

export const toPlansQuery = ({ cursor }: PlansPlace) => ({ cursor });
export const plansHref = (place: PlansPlace): string => hrefOf("/operator/plans", place);
