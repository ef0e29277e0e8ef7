"""Where the vectors of a model lie: the point that its codes are taken from.

The vectors of most models share one long direction (those of e5 have a mean of length .86), which tells texts not
apart; a code of signs has to be taken from their middle. That middle is a property of the model alone here, the mean
over texts that are written below: were it taken from a library's own vectors, rows that a caller may not see would move
what the caller finds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.embedder import Embedder

__all__ = ["model_centre"]

# Of many kinds and in several scripts; what they say does not matter. Another text here is another centre.
_TEXTS = (
    "The river rises in the northern hills, passes two old market towns and reaches the sea after ninety kilometres.",
    "She was born in 1921, studied chemistry in Vienna and taught at the same school until she retired.",
    "Revenue for the year was $4,812 million, up 6 percent; operating expenses rose to $1,930 million.",
    "Patients who took the drug for twelve weeks had lower blood pressure than those in the control group.",
    "To install the package, run the command in a terminal, then open the settings and enter your key.",
    "Article 7. The tenant shall give notice in writing at least three months before the end of the term.",
    "The film was directed by an Italian and starred two actors who had met on an earlier production.",
    "Well, I think we should come back to this next week, when the figures from the region are in. Thank you.",
    "In the second half the visitors scored twice and won the cup for the first time in their history.",
    "Cells that lack this protein divide more slowly and show shorter chromosomes at each generation.",
    "How long does it take to get from the airport to the city centre by train?",
    "The council approved the budget for roads, schools and water on Tuesday after a long debate.",
    "def total(items): return sum(item.price * item.count for item in items)",
    "Mix the flour with the eggs and a pinch of salt, let the dough rest, and bake it for forty minutes.",
    "The castle was built in the twelfth century, burned down twice and now houses a museum of weapons.",
    "Name: Model X-200. Weight: 3.4 kg. Battery: 56 Wh. Ports: two USB-C, one HDMI. Warranty: 24 months.",
    "The empire lost the war and its ports in the south, and the treaty was signed the following spring.",
    "Light travels more slowly in glass than in air, which is why a lens can bring it to a point.",
    "この町は江戸時代に宿場として栄え、今も古い家並みが残っている。",
    "彼は大学で物理学を学び、卒業後は研究所に勤めて多くの論文を発表した。",
    "当期の売上高は前年同期比5.2%増の1,254億円、営業利益は86億円となった。",
    "この法律において「事業者」とは、商業、工業、金融業その他の事業を行う者をいう。",
    "薬を飲み始めてから三日たっても熱が下がらない場合は、医師に相談してください。",
    "駅から歩いて十分ほどの所に、桜で知られる公園と小さな動物園がある。",
    "その作品は雑誌に連載されたあと、映画になり、海外でも高く評価された。",
    "会議では来年度の予算と、新しい工場をどこに建てるかについて話し合った。",
    "選手は延長戦の末に勝利を収め、チームは十年ぶりに優勝した。",
    "インストールが終わったら再起動し、設定画面でネットワークを選んでください。",
    "火山の噴火によって島の大部分が溶岩に覆われ、住民は本土へ避難した。",
    "酸素と水素が反応すると水ができ、そのとき大きな熱が出る。",
    "该公司成立于1998年，总部设在深圳，主要生产通信设备和手机零件。",
    "他出生在一个农民家庭，后来成为著名的作家，作品被译成多种语言。",
    "本年度营业收入为人民币三十二亿元，同比增长百分之八，净利润略有下降。",
    "第十二条 当事人一方不履行合同义务的，应当承担违约责任。",
    "这座城市位于河流的下游，气候温和，夏季多雨，冬季很少下雪。",
    "手术后病人需要休息两周，按时服药，并定期到医院复查。",
    "請問從這裡到火車站要坐幾路公共汽車，大概需要多長時間？",
    "他們在決賽中以三比一擊敗對手，獲得了全國冠軍。",
    "這部電影改編自同名小說，講述一家三代人在戰爭前後的生活。",
    "恐龙在大约六千六百万年前灭绝，科学家认为与一颗小行星撞击地球有关。",
    "安装完成后请重新启动电脑，然后在设置中选择网络连接。",
    "明朝初年，朝廷在沿海修筑城池，防备海上的敌人。",
    "Die Stadt liegt am Ufer eines Sees und ist seit dem Mittelalter für ihre Glocken bekannt.",
    "La société a publié ses comptes annuels : le bénéfice net s'élève à douze millions d'euros.",
    "El presidente anunció ayer que las elecciones se celebrarán en el mes de octubre.",
    "Il museo conserva quadri, lettere e strumenti musicali del Settecento.",
    "Учёные обнаружили на дне озера следы древнего поселения.",
    "이 회사는 작년에 새로운 공장을 세우고 직원을 이백 명 더 뽑았다.",
)


def model_centre(embedder: Embedder) -> NDArray[np.float32]:
    """The mean of the vectors that a model gives to a fixed set of texts: float32 [dim], read-only.

    Takes about half a second with the default model.
    """
    total = np.zeros(embedder.dim)
    for text in _TEXTS:
        total = total + embedder.embed_passage(text)
    centre = (total / len(_TEXTS)).astype(np.float32)
    centre.flags.writeable = False
    return centre
