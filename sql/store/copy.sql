-- A whole and compact copy of the store in a new file, with what lies in its write-ahead log. Parameter :path.
vacuum into :path;
