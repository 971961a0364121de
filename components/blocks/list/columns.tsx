import type { ReactNode } from "react";
import { WORK_COLUMN } from "@/components/blocks/work/work";
import { Ago } from "@/components/time/moment";
import type { TableColumn } from "./resource-table";

type Cell<Row> = (row: Row) => ReactNode;

const quiet = <Row,>(header: string, cell: Cell<Row>, card?: TableColumn<Row>["card"]): TableColumn<Row> => ({
  header,
  align: "end",
  ...(card && { card }),
  className: "whitespace-nowrap text-muted",
  cell,
});

/** Columns that most lists have. */
export const column = {
  /** The first column: it gets the remaining width and truncates its text. */
  title: <Row,>(header: string, cell: Cell<Row>): TableColumn<Row> => ({
    header,
    card: "title",
    className: WORK_COLUMN,
    cell,
  }),
  status: <Row,>(cell: Cell<Row>, header = "Status"): TableColumn<Row> => ({ header, card: "status", cell }),
  amount: <Row,>(header: string, cell: Cell<Row>): TableColumn<Row> => ({
    header,
    align: "end",
    card: "amount",
    cell,
  }),
  /** A column of numbers or durations. */
  quiet,
  /** A column of ages, such as "3 min ago". */
  ago: <Row,>(header: string, at: (row: Row) => string) => quiet<Row>(header, (row) => <Ago at={at(row)} />),
};
