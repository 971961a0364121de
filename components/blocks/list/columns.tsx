import type { ReactNode } from "react";
import { WORK_COLUMN } from "@/components/blocks/work/work";
import { Ago } from "@/components/time/moment";
import type { Column } from "./resource-table";

type Cell<Row> = (row: Row) => ReactNode;

const quiet = <Row,>(header: string, cell: Cell<Row>, card?: Column<Row>["card"]): Column<Row> => ({
  header,
  align: "end",
  ...(card && { card }),
  className: "whitespace-nowrap text-muted",
  cell,
});

/** The columns that most lists have. */
export const column = {
  /** The first: it has the width that the others leave, and cuts its text there. */
  title: <Row,>(header: string, cell: Cell<Row>): Column<Row> => ({
    header,
    card: "title",
    className: WORK_COLUMN,
    cell,
  }),
  status: <Row,>(cell: Cell<Row>, header = "Status"): Column<Row> => ({ header, card: "status", cell }),
  amount: <Row,>(header: string, cell: Cell<Row>): Column<Row> => ({
    header,
    align: "end",
    card: "amount",
    cell,
  }),
  /** Numbers and durations. */
  quiet,
  /** How long ago something was. */
  ago: <Row,>(header: string, at: (row: Row) => string) => quiet<Row>(header, (row) => <Ago at={at(row)} />),
};
