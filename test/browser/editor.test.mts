import { closeEditor, openEditor, watched } from './editor.mts';

/** What a person does and sees in n8n's editor, in one n8n and one tab of a browser, in this order. */
import './firstUse.mts';
import './firstWorkflow.mts';
import './gallery.mts';

// They wait for a browser and for n8n, on a machine that may be busy.
jest.setTimeout(120_000);

beforeAll(openEditor);
afterAll(closeEditor, 60_000);

it('causes no errors in the browser', () => {
	expect(watched.errors).toEqual([]);
});
