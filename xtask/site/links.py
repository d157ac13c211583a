"""Links of the pages that lead out of `docs`, to files of the repository: the site has no such files, and shows their names instead."""

import posixpath
import re

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)\s:]+)\)")


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)

    def replaced(link):
        text, target = link.groups()
        path = target.split("#")[0]
        where = posixpath.normpath(posixpath.join(folder, path))
        is_a_folder = path.endswith("/")
        if not path or not (where.startswith("..") or is_a_folder):
            return link[0]
        name = posixpath.normpath(posixpath.join("docs", where))
        # Where the text is the name already, it is not repeated.
        return text if posixpath.basename(name) in text else f"{text} (`{name}`)"

    return LINK.sub(replaced, markdown)
