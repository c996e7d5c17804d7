import { Failure } from '../../shared/failure';
import { idOf } from './ids';

/** The records of all pages of a list, each once. A list may change while it is read, so that records come again. */
export class PageRecords {
	readonly records: unknown[] = [];

	/** IDs on all pages. */
	private readonly ids = new Set<string>();

	/** Records without an ID on all pages, as JSON. */
	private readonly texts = new Set<string>();

	private lastPage: unknown[] = [];

	/** @param list its name, such as `users` @param byCursor equal records without an ID are then different records */
	constructor(
		private readonly list: string,
		private readonly byCursor: boolean,
	) {}

	/** Checks whether all of these records have IDs, and these are the IDs of the page that was added last. */
	isSamePageAgain(records: unknown[]): boolean {
		const ids = this.idsOf(records);
		const isComplete = records.length > 0 && ids.every((id) => id !== undefined);
		return isComplete && ids.sort().join() === this.idsOf(this.lastPage).sort().join();
	}

	/**
	 * Adds the records of a page, without those whose IDs were on an earlier page.
	 * @throws Failure if records of the page can't be told apart, or a record without an ID was on an earlier page
	 */
	add(records: unknown[]): void {
		const onPage = new Map<string, unknown>();
		const texts: string[] = [];
		for (const record of records) {
			const id = idOf(record, this.list);
			if (id === undefined) {
				const text = JSON.stringify(record);
				if (this.texts.has(text) && !this.byCursor) {
					throw new Failure('list.samePage', { what: 'A record without an ID came twice.' });
				}
				texts.push(text);
				this.records.push(record);
				continue;
			}
			const isOther = onPage.has(id) && JSON.stringify(onPage.get(id)) !== JSON.stringify(record);
			if (isOther) throw new Failure('list.sameId');
			onPage.set(id, record);
			if (!this.ids.has(id)) this.records.push(record);
			this.ids.add(id);
		}
		// Only now, because equal records without an ID on one page are different records.
		for (const text of texts) this.texts.add(text);
		this.lastPage = records;
	}

	private idsOf(records: unknown[]): Array<string | undefined> {
		return records.map((record) => idOf(record, this.list));
	}
}
