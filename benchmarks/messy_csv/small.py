"""Small files written down by hand, each after one that somebody really had."""

from collections.abc import Iterator

from benchmarks.messy_csv.model import MessyFile, Table

_FILES: tuple[tuple[str, str, int, tuple[str, ...], tuple[tuple[str, ...], ...]], ...] = (
    # text, separator, first line, names, rows
    ("a,b\n1,2\n", ",", 1, ("a", "b"), (("1", "2"),)),
    ("id;text\n1;one\n", ";", 1, ("id", "text"), (("1", "one"),)),
    ("question\tanswer\nWho?\tMe\n", "\t", 1, ("question", "answer"), (("Who?", "Me"),)),
    ("1;2;3\n", ";", 1, (), (("1", "2", "3"),)),
    ("name|age\nAnna|31\nBen|29\n", "|", 1, ("name", "age"), (("Anna", "31"), ("Ben", "29"))),
    ("1,5;2,5\n3,5;4,5\n", ";", 1, (), (("1,5", "2,5"), ("3,5", "4,5"))),
    ("12:30,start\n13:45,stop\n", ",", 1, (), (("12:30", "start"), ("13:45", "stop"))),
    ("text\nhello\n", "", 1, ("text",), (("hello",),)),
    ("text\nHello, world\nGood night\nYes, no, maybe\n", "", 1, ("text",),
     (("Hello, world",), ("Good night",), ("Yes, no, maybe",))),
    ('id,text\n1,"a ""b"" c"\n2,""\n', ",", 1, ("id", "text"), (("1", 'a "b" c'), ("2", ""))),
    ('id,text\n1,"line one\nline two"\n2,x\n', ",", 1, ("id", "text"), (("1", "line one\nline two"), ("2", "x"))),
    ("id,name,tags\n1,a,x|y|z\n2,b,x|z|w\n3,c,q|r|s\n", ",", 1, ("id", "name", "tags"),
     (("1", "a", "x|y|z"), ("2", "b", "x|z|w"), ("3", "c", "q|r|s"))),
    ("id;name;where\n1;a;Ulm, Germany\n2;b;Graz, Austria\n3;c;Bern, Switzerland\n", ";", 1, ("id", "name", "where"),
     (("1", "a", "Ulm, Germany"), ("2", "b", "Graz, Austria"), ("3", "c", "Bern, Switzerland"))),
    ("id\tprice\n1\t1,234.50\n2\t2,100.00\n3\t9,999.99\n", "\t", 1, ("id", "price"),
     (("1", "1,234.50"), ("2", "2,100.00"), ("3", "9,999.99"))),
    ("Name,First\nSmith,Anna\nBerg,Ben\n", ",", 1, ("Name", "First"), (("Smith", "Anna"), ("Berg", "Ben"))),
    ("query,docid,rating\nlamp,17,3\nlamp,18,0\nchair,,\n", ",", 1, ("query", "docid", "rating"),
     (("lamp", "17", "3"), ("lamp", "18", "0"), ("chair", "", ""))),
    ("Bank statement\nAccount;DE00 1234\n\nDate;Text;Amount\n03.05.2024;Rent;-900,00\n04.05.2024;Tea, biscuits;-7,20\n"
     "05.05.2024;Salary;2.900,00\n", ";", 4, ("Date", "Text", "Amount"),
     (("03.05.2024", "Rent", "-900,00"), ("04.05.2024", "Tea, biscuits", "-7,20"),
      ("05.05.2024", "Salary", "2.900,00"))),
    ("id, text\n1, one\n2, two\n", ",", 1, ("id", " text"), (("1", " one"), ("2", " two"))),
    ("id,text\n1,it's\n2,isn't\n3,'tis\n", ",", 1, ("id", "text"), (("1", "it's"), ("2", "isn't"), ("3", "'tis"))),
    ('id,size\n1,5" pipe\n2,7" pipe\n3,none\n', ",", 1, ("id", "size"),
     (("1", '5" pipe'), ("2", '7" pipe'), ("3", "none"))),
    ("url,title\nhttps://a.example/?x=1;y=2,A\nhttps://b.example/?x=3;y=4,B\n", ",", 1, ("url", "title"),
     (("https://a.example/?x=1;y=2", "A"), ("https://b.example/?x=3;y=4", "B"))),
    ("x,y,z\n1,2,3\n4,5\n6,7,8\n9,10,11\n", ",", 1, ("x", "y", "z"),
     (("1", "2", "3"), ("4", "5"), ("6", "7", "8"), ("9", "10", "11"))),
    ("100\t7000\twhat is a lamp\tA lamp gives light.\n100\t7001\twhat is a lamp\tLamps, old and new.\n"
     "101\t7002\twho was he\tHe was a king; then he was not.\n", "\t", 1, (),
     (("100", "7000", "what is a lamp", "A lamp gives light."),
      ("100", "7001", "what is a lamp", "Lamps, old and new."),
      ("101", "7002", "who was he", "He was a king; then he was not."))),
    ("\n\nid,text\n\n1,one\n\n2,two\n", ",", 3, ("id", "text"), (("1", "one"), ("2", "two"))),
    ('"id","text"\n"1","one, two"\n"2","three; four"\n', ",", 1, ("id", "text"),
     (("1", "one, two"), ("2", "three; four"))),
    ("positive;negative\nvery good;bad, bad\n", ";", 1, ("positive", "negative"), (("very good", "bad, bad"),)),
)  # fmt: skip


def by_hand() -> Iterator[MessyFile]:
    """Very short files, and others that are remembered for one thing."""
    for number, (text, separator, first_line, names, rows) in enumerate(_FILES):
        yield MessyFile(
            f"hand-{number}", "very short", text.encode(), "utf-8", separator, first_line, Table(names, rows)
        )
